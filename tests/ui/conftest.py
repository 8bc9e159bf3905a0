"""The UI as every test wants it: whatever the terminal of whoever runs the tests is like."""

import os

for name in ("NO_COLOR", "TEXTUAL_THEME"):
    os.environ.pop(name, None)
os.environ["TEXTUAL_ANIMATIONS"] = "none"
