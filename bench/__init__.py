"""The budgets, measured: every figure is a ratio against a floor taken in the same run."""

MEASUREMENTS = ("cost", "headless", "live", "model", "reading", "screen", "tables", "waits")
