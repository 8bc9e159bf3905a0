"""Filters as the user types them: `text`, `!text`, `/pattern/`, `state:waiting`, `owner:name`.

Words are joined by "and". A word with a colon looks at one field alone; a pattern that is none is
taken as text, because the user is still typing it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

Fields = Mapping[str, str]  # "": what a plain word is looked for in
Test = Callable[[Fields], bool]


class FilterCount(NamedTuple):
    """How many rows pass a filter, of how many."""

    shown: int
    total: int


class Filter(msgspec.Struct, frozen=True, eq=False):
    """Lets rows pass that have what was asked for."""

    text: str = ""
    tests: tuple[Test, ...] = ()
    fields: tuple[str, ...] = ()  # that it looks at

    def passes(self, fields: Fields) -> bool:
        """Tell whether a row with these fields is shown."""
        return all(test(fields) for test in self.tests)

    def mistake(self, known: Sequence[str]) -> str:
        """Name the fields that the screen in sight does not know; "" when it knows all.

        >>> parsed("holder:x owner:ann").mistake(["owner", "state"])
        'unknown word holder: (owner: state:)'
        """
        unknown = [field for field in self.fields if field not in known]
        if not unknown:
            return ""
        words = "words" if len(unknown) > 1 else "word"
        return f"unknown {words} {_listed(unknown)} ({_listed(known)})"

    def __bool__(self) -> bool:
        """Tell whether it holds anything back at all."""
        return bool(self.tests)


NO_FILTER: Final = Filter()


def parsed(text: str) -> Filter:
    """Read what the user typed.

    >>> one = parsed("orders !api state:waiting")
    >>> one.passes({"": "/locks/orders worker", "state": "waiting"})
    True
    >>> one.passes({"": "/locks/orders api-1", "state": "waiting"})
    False
    """
    words = text.split()
    fields = dict.fromkeys(field for word in words if (field := _field(word.lstrip("!"))[0]))
    return Filter(text, tuple(map(_test, words)), tuple(fields))


def _listed(fields: Sequence[str]) -> str:
    return " ".join(f"{field}:" for field in fields)


def _field(word: str) -> tuple[str, str]:
    """Split `owner:ann`; no field where the word is text, or a pattern.

    >>> _field("Owner:ann"), _field("10.0.1.11:2181"), _field("/a:b/"), _field("owner:")
    (('owner', 'ann'), ('', '10.0.1.11:2181'), ('', '/a:b/'), ('', 'owner:'))
    """
    field, colon, value = word.partition(":")
    return (field.casefold(), value) if colon and value and field.isalpha() else ("", word)


def _test(word: str) -> Test:
    if word.startswith("!") and len(word) > 1:
        inner = _test(word[1:])
        return lambda fields: not inner(fields)
    if len(word) > 2 and word.startswith("/") and word.endswith("/"):  # noqa: PLR2004  both slashes and something
        return _pattern(word[1:-1])
    field, value = _field(word)
    wanted = value.casefold()
    return lambda fields: wanted in fields.get(field, "").casefold()


def _pattern(text: str) -> Test:
    try:
        pattern = re.compile(text, re.IGNORECASE)
    except re.error:
        return lambda fields: text.casefold() in fields.get("", "").casefold()
    return lambda fields: pattern.search(fields.get("", "")) is not None
