"""The UI as every test needs it, whatever terminal the tests run in."""

import os

from textual import app, pilot
from ui.quiet_loop import wait_for_quiet

for name in ("NO_COLOR", "TEXTUAL_THEME"):
    os.environ.pop(name, None)
os.environ["TEXTUAL_ANIMATIONS"] = "none"
app.wait_for_idle = pilot.wait_for_idle = wait_for_quiet
