"""Quote what the user wrote, and suggest what was probably meant."""

from collections.abc import Iterable

from zktop.model.text import clean, nearest

MAX_QUOTED_CHARS = 40  # of a wrong value


def quoted(text: str) -> str:
    """Quote the user's text, shortened if it is long.

    >>> quoted("2x"), quoted("y" * 100) == '"' + "y" * 39 + '…"'
    ('"2x"', True)
    """
    if len(text) > MAX_QUOTED_CHARS:
        text = text[: MAX_QUOTED_CHARS - 1] + "…"
    return f'"{clean(text)}"'


def hint(word: str, known: Iterable[str]) -> str:
    """Name the nearest known word, or list them all.

    >>> hint("themme", ["keys", "theme"]), hint("x", ["keys", "theme"])
    ('did you mean theme?', 'known: keys, theme')
    """
    names = list(known)
    meant = nearest(word, names)
    return f"did you mean {meant}?" if meant else f"known: {', '.join(names)}"
