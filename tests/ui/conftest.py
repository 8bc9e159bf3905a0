"""The UI as every test needs it, whatever terminal the tests run in."""

import os

for name in ("NO_COLOR", "TEXTUAL_THEME"):
    os.environ.pop(name, None)
os.environ["TEXTUAL_ANIMATIONS"] = "none"
