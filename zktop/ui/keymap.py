"""Keys as the user wants them: the table of keys with other keys in it, and what is wrong there.

Textual takes unknown names for keys, and of two actions on one key it quietly drops one. So all
of it is checked before the screen is taken.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from textual.keys import KEY_NAME_REPLACEMENTS, Keys, format_key

from zktop.ui.keys import FIXED, KEYS, Key

_MODIFIERS: Final = ("alt", "ctrl", "meta", "super", "hyper", "shift")
_CHORD: Final = re.compile(r"((?:[a-z]+\+)*)(.+)", re.DOTALL)
_NAMES: Final = {
    *(key.value for key in Keys if key.value.isalnum()),
    *KEY_NAME_REPLACEMENTS.values(),
}


def remapped(settings: Mapping[str, str]) -> tuple[Key, ...]:
    """Give the table of keys with these keys in it; the settings have to be right."""
    return tuple(
        key._replace(keys=",".join(map(named, _parts(settings[key.id]))))
        if key.id in settings
        else key
        for key in KEYS
    )


def mistakes(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Say all that is wrong with the keys of known actions: whose, and what."""
    good: dict[str, str] = {}
    for action, text in settings.items():
        wrong = [what for name in _parts(text) for what in _wrong(name, action)]
        yield from ((action, what) for what in wrong)
        if not any(_parts(text)):
            yield action, "names no key"
        elif not wrong:
            good[action] = text
    yield from clashes(remapped(good), frozenset(good))


def clashes(table: Sequence[Key], changed: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Find keys that mean two things at one place; told of the one that was changed."""
    names = {key.id: frozenset(key.names) for key in table}
    for first, second in combinations(table, 2):
        if names[first.id].isdisjoint(names[second.id]) or not _meet(first, second):
            continue
        later, earlier = (second, first) if second.id in changed else (first, second)
        for name in second.names:
            if name in first.names:
                yield later.id, f"{shown(name)} is a key of {earlier.id} as well ({earlier.help})"


def named(text: str) -> str:
    """Give a key the name that Textual has for it.

    >>> named("?"), named("ctrl+k"), named("G"), named("shift+tab")
    ('question_mark', 'ctrl+k', 'G', 'shift+tab')
    """
    match = _CHORD.fullmatch(text)
    prefix, base = match.groups() if match else ("", text)
    if len(base) == 1 and not base.isalnum():
        name = unicodedata.name(base, base).lower().replace("-", "_").replace(" ", "_")
        base = KEY_NAME_REPLACEMENTS.get(name, name)
    return f"{prefix}{base.lower() if len(base) > 1 else base}"


def shown(name: str) -> str:
    """Write a key as people do.

    >>> shown("question_mark"), shown("ctrl+p"), shown("pageup"), shown("escape")
    ('?', 'ctrl+p', 'pgup', 'esc')
    """
    prefix, plus, base = name.rpartition("+")
    words = {"enter": "enter", "up": "up", "down": "down", "left": "left", "right": "right"}
    return prefix + plus + (words.get(base) or format_key(base))


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _wrong(text: str, action: str) -> Iterator[str]:
    match = _CHORD.fullmatch(named(text))
    prefix, base = match.groups() if match else ("", "")
    modifiers = prefix.split("+")[:-1]
    if not _is_key(base) or not set(modifiers) <= set(_MODIFIERS):
        yield f'"{text}" is no key; write a letter, or a name like f2, space or ctrl+k'
    elif modifiers and base.isupper():
        yield f"write {prefix}shift+{base.lower()} for {text}"
    elif modifiers == ["shift"] and len(base) == 1:
        yield f"write {base.upper()} for {text}"
    elif named(text) in FIXED and not (action == "quit" and FIXED[named(text)] == "quits"):
        yield f"{named(text)} always {FIXED[named(text)]}"


def _is_key(base: str) -> bool:
    if base in _NAMES or (len(base) == 1 and base.isprintable()):
        return True
    try:
        return unicodedata.lookup(base.replace("_", " ")).isprintable()
    except KeyError:
        return False


def _meet(first: Key, second: Key) -> bool:
    """Tell whether both are asked at the same place, so that one would hide the other."""
    if not first.pages or not second.pages:
        return not first.pages and not second.pages
    return not set(first.pages).isdisjoint(second.pages)
