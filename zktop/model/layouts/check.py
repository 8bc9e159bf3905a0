"""What is wrong with a layout that a user wrote, in sentences for the config loader."""

import re
from collections.abc import Iterator

from zktop.model.layouts.layout import Layout
from zktop.model.layouts.names import MACROS, compiled

_GROUPS = ("seq", "mode", "id", "name")
_LONGEST_PATTERN = 2_000
_NUMERIC = ("number", "text", "magnitude", "digits", "unsigned")


def check(layout: Layout) -> list[str]:
    """Say everything that keeps a layout from working; an empty list is a good one.

    >>> check(Layout(name="mine", pattern="^job-(?P<seq"))
    ['pattern: missing >, unterminated name at position 9']
    >>> check(Layout(name="mine", pattern="^job-(?P<mode>[rw])-{SEQ}$"))
    ['modes: the pattern has a group "mode", so say what it means, like {r: read, w: write}']
    """
    if len(layout.pattern) > _LONGEST_PATTERN:
        return [f"pattern: longer than {_LONGEST_PATTERN} characters"]
    try:
        pattern = compiled(layout.pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return [f"pattern: {error}"]
    return [*_name(layout), *_pattern(layout, pattern), *_modes(layout, pattern), *_rules(layout)]


def _name(layout: Layout) -> Iterator[str]:
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", layout.name):
        yield "name: use letters, digits, dots and dashes, so that it fits a command line"


def _pattern(layout: Layout, pattern: re.Pattern[str]) -> Iterator[str]:
    for macro in re.findall(r"\{[A-Z]\w*\}", layout.pattern):
        if macro not in MACROS:
            yield f"pattern: unknown macro {macro} (known: {' '.join(MACROS)})"
    unknown = sorted(pattern.groupindex.keys() - set(_GROUPS))
    if unknown:
        yield f'pattern: unknown group "{unknown[0]}" (known: {" ".join(_GROUPS)})'
    if pattern.fullmatch(""):
        yield "pattern: it matches an empty name"
    if "seq" not in pattern.groupindex and layout.order in _NUMERIC and layout.means != "single":
        yield (
            'pattern: there is no group "seq" for the number that decides the order '
            "(add {SEQ}, or say order: name or order: arrival)"
        )
    if layout.grouped and "name" not in pattern.groupindex:
        yield 'grouped: the pattern has no group "name" to tell the groups apart'
    yield from _unseen(layout)


def _unseen(layout: Layout) -> Iterator[str]:
    try:
        compiled(layout.unseen)
    except (re.error, OverflowError, RecursionError) as error:
        yield f"unseen: {error}"


def _modes(layout: Layout, pattern: re.Pattern[str]) -> Iterator[str]:
    has_group = "mode" in pattern.groupindex
    if has_group and not layout.modes:
        yield (
            'modes: the pattern has a group "mode", so say what it means, like {r: read, w: write}'
        )
    if layout.modes and not has_group:
        yield 'modes: the pattern has no group "mode"'
    if has_group and layout.modes:
        for said in _spelled(layout.pattern):
            if said not in layout.modes:
                yield f'modes: no entry for "{said}", which the pattern allows'


def _spelled(pattern: str) -> Iterator[str]:
    """Give the words that a simple mode group can match: `[rw]` or `read|write`."""
    found = re.search(r"\(\?P<mode>(?:\[([A-Za-z0-9]+)\]|([A-Za-z0-9_|]+))\)", pattern)
    if found:
        yield from found[1] or found[2].split("|")


def _rules(layout: Layout) -> Iterator[str]:
    reads = layout.means == "read-write"
    if layout.watch == "first-writer" and not reads:
        yield "watch: first-writer needs a mode that reads"
    if reads and layout.modes and "read" not in layout.modes.values():
        yield "kind: read-write needs a mode that reads"
