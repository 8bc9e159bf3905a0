"""How a mistake repeats what the user wrote, and guesses what was meant."""

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


def nearest(name: str, known: "list[str] | tuple[str, ...]") -> str | None:
    """Give the known name that the user most likely meant.

    >>> nearest("layuot", ["layout", "leases"]), nearest("colour", ["layout", "leases"])
    ('layout', None)
    """
    from difflib import get_close_matches  # noqa: PLC0415  slow, and needed only on mistakes

    return next(iter(get_close_matches(name[:LONGEST_QUOTE], known, n=1)), None)
