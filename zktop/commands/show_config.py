"""`zktop --show-config`: which settings hold, and where each comes from."""

from zktop.commands.output import put_table
from zktop.config.effective import Effective
from zktop.config.shown import rows


def print_config(effective: Effective) -> None:
    """Print a line for each setting; secrets are masked."""
    put_table([("SETTING", "VALUE", "FROM"), *rows(effective)])
