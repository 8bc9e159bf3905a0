"""Text from ZooKeeper, made safe for terminals.

Any client can write any bytes into names and data of znodes. All text that enters the model passes
through `clean`; the type `Text` marks the result. It has no control character, no escape sequence
and no invisible character that reorders its neighbours: each is replaced by a visible one, so
columns still line up and two names rarely become the same.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    Text = NewType("Text", str)
else:
    Text = str  # calling a NewType takes ten times as long, and there are many names

MAX_LABEL_LENGTH = 256  # a znode's data may be a megabyte; a label fits in a line
MAX_TYPED_LENGTH = 40  # longer names are cut before the search for typos

_CONTROL_PICTURES = 0x2400
_DELETE, _DELETE_PICTURE = "\x7f", "\u2421"
_REPLACEMENT = "\ufffd"
_HARMLESS_SPACES = frozenset("\u00a0\u2000\u2002\u2003\u2009\u202f\u3000")


def clean(raw: str) -> Text:
    r"""Replace characters that a terminal would interpret with visible ones.

    >>> clean("plain/näme")
    'plain/näme'
    >>> clean("\x1b[2J\n")
    '␛[2J␊'
    """
    if raw.isprintable():  # nearly always, and a fast scan in C
        return Text(raw)
    return Text("".join(map(_shown, raw)))


def are_clean(texts: Iterable[str]) -> bool:
    r"""Whether all of these texts are already clean, in one check.

    >>> are_clean(["worker-3", "näme"]), are_clean(["a", "\x1b[2J"])
    (True, False)
    """
    return "".join(texts).isprintable()


def decode(data: bytes) -> Text:
    r"""Decode bytes as clean text; invalid UTF-8 becomes U+FFFD.

    >>> decode(b"worker-3")
    'worker-3'
    >>> decode(b"caf\xe9")
    'caf\ufffd'
    """
    return clean(data.decode("utf-8", "replace"))


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The known name closest to a mistyped one, if any is close.

    >>> nearest("layuot", ["layout", "leases"]), nearest("colour", ["layout", "leases"])
    ('layout', None)
    """
    from difflib import get_close_matches  # noqa: PLC0415  slow, and rarely needed

    return next(iter(get_close_matches(name[:MAX_TYPED_LENGTH], known, n=1)), None)


def _shown(character: str) -> str:
    code = ord(character)
    if code < 0x20:  # noqa: PLR2004  the C0 controls have their own pictures
        return chr(_CONTROL_PICTURES + code)
    if character == _DELETE:
        return _DELETE_PICTURE
    if character.isprintable() or character in _HARMLESS_SPACES:
        return character
    return _REPLACEMENT
