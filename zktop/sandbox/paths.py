"""Which strings name a znode."""

import re

from zktop.sandbox.codes import Code, Refused

# Java tests UTF-16 units, so all characters beyond the basic plane are refused as surrogates.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\U0010ffff]|//|/\.{1,2}(/|$)|/$")


def is_valid(path: str) -> bool:
    """Whether a znode may have this path.

    >>> is_valid("/locks/a-0000000001"), is_valid("/locks/"), is_valid("/a/../b"), is_valid("/")
    (True, False, False, True)
    """
    return path == "/" or (path.startswith("/") and not _UNFIT.search(path))


def validate(path: str) -> None:
    """Refuse a path that no znode may have."""
    if not is_valid(path):
        raise Refused(Code.BAD_ARGUMENTS)


def split(path: str) -> tuple[str, str]:
    """Parent and name; the parent of a top-level znode is the empty string.

    >>> split("/locks/a"), split("/locks")
    (('/locks', 'a'), ('', 'locks'))
    """
    parent, slash, name = path.rpartition("/")
    if not slash or "\0" in path:
        raise Refused(Code.BAD_ARGUMENTS)
    return parent, name
