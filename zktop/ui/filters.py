"""Filters as the user types them: `text`, `!text`, `/pattern/`, `state:waiting`, `owner:name`.

Words are joined by "and". A word with a colon looks at one field alone; a pattern that is none is
taken as text, because the user is still typing it.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

Fields = Mapping[str, str]  # "": what a plain word is looked for in
Test = Callable[[Fields], bool]


class Filter(msgspec.Struct, frozen=True, eq=False):
    """Lets rows pass that have what was asked for."""

    text: str = ""
    tests: tuple[Test, ...] = ()

    def passes(self, fields: Fields) -> bool:
        """Tell whether a row with these fields is shown."""
        return all(test(fields) for test in self.tests)

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
    return Filter(text, tuple(map(_test, text.split())))


def _test(word: str) -> Test:
    if word.startswith("!") and len(word) > 1:
        inner = _test(word[1:])
        return lambda fields: not inner(fields)
    if len(word) > 2 and word.startswith("/") and word.endswith("/"):  # noqa: PLR2004  both slashes and something
        return _pattern(word[1:-1])
    field, colon, value = word.partition(":")
    if colon and value and field.isalpha():
        wanted = value.casefold()
        return lambda fields: wanted in fields.get(field.casefold(), "").casefold()
    wanted = word.casefold()
    return lambda fields: wanted in fields.get("", "").casefold()


def _pattern(text: str) -> Test:
    try:
        pattern = re.compile(text, re.IGNORECASE)
    except re.error:
        return lambda fields: text.casefold() in fields.get("", "").casefold()
    return lambda fields: pattern.search(fields.get("", "")) is not None
