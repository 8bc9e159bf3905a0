"""Measures the budgets: every figure is compared with a floor taken in the same run."""

MEASUREMENTS = (
    "cost",
    "finding",
    "headless",
    "import_log",
    "keys",
    "large",
    "live",
    "model",
    "past",
    "reading",
    "screen",
    "screen_large",
    "stalls",
    "tables",
    "waits",
)
