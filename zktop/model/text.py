"""Text from ZooKeeper, made harmless at the door.

Names and data of znodes are written by strangers. Whatever enters the model as text goes through
`clean`, and `Text` is the type that says so: it cannot hold a control character, an escape
sequence or a character that reorders its neighbours. Each offender is replaced by one visible
character, so that columns still line up and two names rarely become one.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NewType

import msgspec

if TYPE_CHECKING:
    Text = NewType("Text", str)
else:
    Text = str  # to call a NewType takes ten times as long, and there are so many names

LONGEST_LABEL = 256  # characters; data of a znode may be a megabyte, a label is for one line
LONGEST_NAME = 40  # characters that somebody may have mistyped

_as_json: Final = msgspec.json.Encoder().encode  # the quickest look at every character
_CONTROL_PICTURES = 0x2400
_DELETE, _DELETE_PICTURE = "\x7f", "\u2421"
_REPLACEMENT = "\ufffd"
_NARROW_ENOUGH = frozenset("\u00a0\u2000\u2002\u2003\u2009\u202f\u3000")  # spaces: odd, harmless


def clean(raw: str) -> Text:
    r"""Replace what a terminal would obey by something that it merely shows.

    >>> clean("plain/näme")
    'plain/näme'
    >>> clean("\x1b[2J\n")
    '␛[2J␊'
    """
    if raw.isprintable():  # nearly always, and as fast as a scan in C can be
        return Text(raw)
    return Text("".join(map(_shown, raw)))


def are_clean(texts: Iterable[str]) -> bool:
    r"""Tell at one go whether `clean` has nothing to do for any of these.

    >>> are_clean(["worker-3", "näme"]), are_clean(["a", "\x1b[2J"])
    (True, False)
    """
    text = "".join(texts)
    if text.isascii() and len(_as_json(text)) == len(text) + 2:  # nothing had to be escaped there
        return _DELETE not in text
    return text.isprintable()


def decode(data: bytes) -> Text:
    r"""Read bytes as text; what is no UTF-8 becomes U+FFFD.

    >>> decode(b"worker-3")
    'worker-3'
    >>> decode(b"caf\xe9")
    'caf\ufffd'
    """
    return clean(data.decode("utf-8", "replace"))


def label(data: bytes) -> Text:
    """Give the beginning of the data, as one short line.

    >>> label(b"x" * 1_000_000) == "x" * 255 + "…"
    True
    """
    text = decode(data[: 4 * LONGEST_LABEL]).strip()
    if len(text) > LONGEST_LABEL:
        text = text[: LONGEST_LABEL - 1] + "…"
    return Text(text)


def nearest(name: str, known: Sequence[str]) -> str | None:
    """Give the known name that somebody most likely meant.

    >>> nearest("layuot", ["layout", "leases"]), nearest("colour", ["layout", "leases"])
    ('layout', None)
    """
    from difflib import get_close_matches  # noqa: PLC0415  slow, and needed only on mistakes

    return next(iter(get_close_matches(name[:LONGEST_NAME], known, n=1)), None)


def _shown(character: str) -> str:
    code = ord(character)
    if code < 0x20:  # noqa: PLR2004  the C0 controls have pictures of their own
        return chr(_CONTROL_PICTURES + code)
    if character == _DELETE:
        return _DELETE_PICTURE
    if character.isprintable() or character in _NARROW_ENOUGH:
        return character
    return _REPLACEMENT
