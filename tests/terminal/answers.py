"""Confirms the dialog that asks whether zktop may write."""

from tmux import Terminal

ASKS = "Write to "


def allow_writing(screen: Terminal) -> None:
    """Type the confirmation once the dialog is open."""
    screen.until(ASKS)
    screen.type("demo")
    screen.press("Enter")
    screen.until(lambda text: ASKS not in text)
