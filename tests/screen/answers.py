"""How a test answers the question whether zktop may write."""

from tmux import Terminal

ASKS = "Write to "


def allow_writing(screen: Terminal) -> None:
    """Type the word, once the question is on the screen."""
    screen.until(ASKS)
    screen.type("demo")
    screen.press("Enter")
    screen.until(lambda text: ASKS not in text)
