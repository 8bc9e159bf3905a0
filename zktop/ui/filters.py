"""Filters as the user types them: `text`, `!text`, `/pattern/`, `state:waiting`, `owner:name`.

All words must match. A word with a colon searches one field only. A pattern that is not valid is
searched for as text, because the user is still typing it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

Fields = Mapping[str, str]  # "": the text that plain words are searched in
Test = Callable[[Fields], bool]


class LazyFields(Mapping[str, str]):
    """The fields of one row, each computed when a filter reads it."""

    __slots__ = ("_makers", "_row")

    def __init__(self, makers: Mapping[str, Callable[..., str]], *row: Any) -> None:
        """`makers` compute the text of each field from the values in `row`."""
        self._makers, self._row = makers, row

    def __getitem__(self, name: str) -> str:
        return self._makers[name](*self._row)

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class FilterCount(NamedTuple):
    """How many rows match, and how many there are."""

    shown: int
    total: int


class Filter(msgspec.Struct, frozen=True, eq=False):
    """Matches rows by their fields."""

    text: str = ""
    tests: tuple[Test, ...] = ()
    fields: tuple[str, ...] = ()  # that the filter names

    def passes(self, fields: Fields) -> bool:
        for test in self.tests:  # noqa: SIM110  a key filters 50,000 rows
            if not test(fields):
                return False
        return True

    def mistake(self, known: Sequence[str]) -> str:
        """A message about fields that the screen does not know; empty if it knows all.

        >>> parsed("holder:x owner:ann").mistake(["owner", "state"])
        'unknown word holder: (owner: state:)'
        """
        unknown = [field for field in self.fields if field not in known]
        if not unknown:
            return ""
        words = "words" if len(unknown) > 1 else "word"
        return f"unknown {words} {_listed(unknown)} ({_listed(known)})"

    def __bool__(self) -> bool:
        return bool(self.tests)


NO_FILTER: Final = Filter()


def parsed(text: str) -> Filter:
    """Parse what the user typed.

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
    """Split `owner:ann`; the field is empty for plain text and patterns.

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
    return lambda fields: field in fields and wanted in fields[field].casefold()


def _pattern(text: str) -> Test:
    try:
        pattern = re.compile(text, re.IGNORECASE)
    except re.error:
        return lambda fields: text.casefold() in fields.get("", "").casefold()
    return lambda fields: pattern.search(fields.get("", "")) is not None
