"""The budgets, measured: every figure is a ratio against a floor taken in the same run."""

MEASUREMENTS = (
    "cost",
    "headless",
    "live",
    "model",
    "past",
    "reading",
    "screen",
    "tables",
    "waits",
)
