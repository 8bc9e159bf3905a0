"""Filters as the user types them: `text`, `!text`, `/pattern/`, `state:waiting`, `owner:name`.

All words must match. A word with a colon searches one field only. An invalid pattern is searched
for as plain text, because the user may still be typing it. `Filter.mistakes` says what is wrong.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

import msgspec

R = TypeVar("R")

STATE_FIELDS: Final = ("state", "severity")
MAX_LISTED_STATES: Final = 7  # in a message


class Word(NamedTuple):
    """One word of a filter: the field to search, and the test that its text must pass."""

    field: str  # "": the text that plain words are searched in
    finds: Callable[[str], bool]
    is_excluded: bool = False  # `!word`: rows with it do not match
    value: str = ""  # the text after the colon, or the whole word
    mistake: str = ""  # the message about an invalid pattern


class FilterCount(NamedTuple):
    """How many rows match, and how many there are."""

    shown: int
    total: int


class Filter(msgspec.Struct, frozen=True, eq=False):
    """Matches rows by the texts of their fields."""

    text: str = ""
    words: tuple[Word, ...] = ()

    def matcher(self, fields: Mapping[str, Callable[[R], str]]) -> Callable[[R], bool]:
        """Return a function that tests a row; the functions in `fields` return its texts."""
        words = [(fields.get(word.field), word.finds, word.is_excluded) for word in self.words]

        def matches(row: R) -> bool:
            for text_of, finds, is_excluded in words:
                has_word = text_of is not None and finds(text_of(row))
                if has_word == is_excluded:
                    return False
            return True

        return matches

    def passing(self, rows: Iterable[R], fields: Mapping[str, Callable[[R], str]]) -> list[R]:
        return [*filter(self.matcher(fields), rows)]

    def passes(self, fields: Mapping[str, str]) -> bool:
        """True if one row with these texts matches."""
        return all(
            (word.field in fields and word.finds(fields[word.field])) != word.is_excluded
            for word in self.words
        )

    def mistakes(self, fields: Sequence[str], states: Sequence[str] = ()) -> str:
        """Return a message about invalid patterns, and about fields and states that do not exist.

        >>> parsed_filter("holder:x owner:ann").mistakes(["owner", "state"])
        'unknown word holder: (owner: state:)'
        >>> parsed_filter("state:nope state:wait").mistakes(["state"], ["waiting", "held"])
        'unknown state nope (waiting held)'
        >>> parsed_filter("/[/").mistakes([])
        'not a pattern: /[/ (unterminated character set)'
        """
        mistakes = [word.mistake for word in self.words if word.mistake]
        named = dict.fromkeys(word.field for word in self.words if word.field)
        if unknown := [field for field in named if field not in fields]:
            words = "words" if len(unknown) > 1 else "word"
            mistakes.append(f"unknown {words} {_listed(unknown)} ({_listed(fields)})")
        return "; ".join([*mistakes, *self._unknown_states(fields, states)])

    def _unknown_states(self, fields: Sequence[str], states: Sequence[str]) -> Iterator[str]:
        for word in self.words:
            is_state = word.field in STATE_FIELDS and word.field in fields
            if is_state and states and not any(map(word.finds, states)):
                listed = " ".join(states[:MAX_LISTED_STATES])
                more = " …" if len(states) > MAX_LISTED_STATES else ""
                yield f"unknown {word.field} {word.value} ({listed}{more})"

    def __bool__(self) -> bool:
        return bool(self.words)


NO_FILTER: Final = Filter()


def parsed_filter(text: str) -> Filter:
    """Parse what the user typed.

    >>> wanted = parsed_filter("orders !api state:waiting")
    >>> wanted.passes({"": "/locks/orders worker", "state": "waiting"})
    True
    >>> wanted.passes({"": "/locks/orders api-1", "state": "waiting"})
    False
    """
    return Filter(text, tuple(map(_word, text.split())))


def _listed(fields: Sequence[str]) -> str:
    return " ".join(f"{field}:" for field in fields)


def _field(word: str) -> tuple[str, str]:
    """Split `owner:ann`; the field is empty for plain text and patterns.

    >>> _field("Owner:ann"), _field("10.0.1.11:2181"), _field("/a:b/"), _field("owner:")
    (('owner', 'ann'), ('', '10.0.1.11:2181'), ('', '/a:b/'), ('', 'owner:'))
    """
    field, colon, value = word.partition(":")
    return (field.casefold(), value) if colon and value and field.isalpha() else ("", word)


def _word(word: str) -> Word:
    if word.startswith("!") and len(word) > 1:
        inner = _word(word[1:])
        return inner._replace(is_excluded=not inner.is_excluded)
    if len(word) > 2 and word.startswith("/") and word.endswith("/"):  # noqa: PLR2004  both slashes and something
        return _pattern(word)
    field, value = _field(word)
    return Word(field, _contains(value), value=value)


def _contains(text: str) -> Callable[[str], bool]:
    wanted = text.casefold()
    return lambda searched: wanted in searched.casefold()


def _pattern(word: str) -> Word:
    text = word[1:-1]
    try:
        pattern = re.compile(text, re.IGNORECASE)
    except re.error as error:
        why = error.msg
    except ValueError as error:  # flags that exclude each other
        why = str(error)
    except (OverflowError, RecursionError):
        why = "too large"
    else:
        return Word("", lambda searched: pattern.search(searched) is not None)
    return Word("", _contains(text), mistake=f"not a pattern: {word} ({why})")
