"""How a mistake repeats what the user wrote."""

from zktop.model.text import clean

LONGEST_QUOTE = 40  # characters of a wrong value that are worth repeating


def quoted(text: str) -> str:
    """Repeat what the user wrote, if it is not too long.

    >>> quoted("2x"), quoted("y" * 100) == '"' + "y" * 39 + '…"'
    ('"2x"', True)
    """
    if len(text) > LONGEST_QUOTE:
        text = text[: LONGEST_QUOTE - 1] + "…"
    return f'"{clean(text)}"'
