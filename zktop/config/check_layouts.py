"""Check the user's own layouts: patterns, macros, groups and modes that cannot work.

Each check yields pairs: the key, and what is wrong with it, to be printed after the key.
"""

import re
import warnings
from collections.abc import Iterator

from zktop.config.suggest import hint
from zktop.model.layouts.layout import MACROS, ClientView, Layout, compiled_pattern

Mistakes = Iterator[tuple[str, str]]

_GROUPS = ("seq", "mode", "id", "name")
_MAX_PATTERN_CHARS = 2_000
_NUMERIC = ("number", "text", "magnitude", "digits", "unsigned")
_MACRO = re.compile(r"(?<!\\)(?<!\\N)\{[A-Za-z_]\w*\}")  # `\{` is a brace, `\N{DASH}` a character
_SIMPLE_MODES = re.compile(r"\(\?P<mode>(?:\[(\w+)\]|([\w|]+))\)")  # [rw], or read|write


def layout_mistakes(layout: Layout) -> Mistakes:
    """Find every mistake that would keep a layout from working.

    >>> list(layout_mistakes(Layout(name="mine", pattern="^job-{SEK}$")))
    [('pattern', 'unknown macro {SEK} (did you mean {SEQ}?)')]
    >>> list(layout_mistakes(Layout(name="mine", pattern="^job-(?P<idd>.+)-{SEQ}$")))
    [('pattern', 'unknown group "idd" (did you mean id?)')]
    """
    yield from _name_mistakes(layout)
    errors = {key: _pattern_error(getattr(layout, key)) for key in ("pattern", "unseen")}
    yield from ((key, error) for key, error in errors.items() if error is not None)
    if errors["unseen"] is None:
        macros = _unknown_macros(layout.unseen, tuple(MACROS))
        yield from (("unseen", problem) for problem in macros)
    if errors["pattern"] is None:
        unknown = [*_unknown_words(layout)]
        yield from unknown or _group_mistakes(layout)
    yield from _read_mode_mistakes(layout)


def view_mistakes(view: ClientView) -> Mistakes:
    """Find every mistake in a client view: how the clients of a layout see the nodes.

    >>> list(view_mistakes(ClientView(counts="all", key="^(.*)-(.*)$")))
    [('key', 'needs exactly one group, like (.*), for what is compared')]
    """
    macros = (*MACROS, "{NAME}")
    for field in ("counts", "key", "bars"):
        written = getattr(view, field)
        pattern = written.replace("{NAME}", "x")
        error = _pattern_error(pattern)
        problems = [error] if error else [*_unknown_macros(written, macros)]
        yield from ((field, problem) for problem in problems)
        is_valid_key = field == "key" and written and not problems
        if is_valid_key and compiled_pattern(pattern).groups != 1:
            yield field, "needs exactly one group, like (.*), for what is compared"


def _pattern_error(pattern: str) -> str | None:
    if len(pattern) > _MAX_PATTERN_CHARS:
        return f"is longer than {_MAX_PATTERN_CHARS} characters"
    try:
        with warnings.catch_warnings(action="ignore"):  # about syntax that may change
            compiled_pattern(pattern)  # only to check it
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        problem: object = error
        if isinstance(error, re.error) and any(macro in pattern for macro in MACROS):
            problem = error.msg  # its position would count characters of the expanded macros
        return f"is not a regular expression: {problem}"
    return None


def _name_mistakes(layout: Layout) -> Mistakes:
    if not re.fullmatch(r"\w[\w.-]*", layout.name):
        allowed = "must begin with a letter, digit or _, and have only these, dots and dashes"
        yield "name", f"{allowed}, because --layout takes it"


def _unknown_words(layout: Layout) -> Mistakes:
    """Find unknown macros and groups."""
    yield from (("pattern", problem) for problem in _unknown_macros(layout.pattern, tuple(MACROS)))
    for group in compiled_pattern(layout.pattern).groupindex:
        if group not in _GROUPS:
            yield "pattern", f'unknown group "{group}" ({hint(group, _GROUPS)})'


def _unknown_macros(pattern: str, known: tuple[str, ...]) -> Iterator[str]:
    for macro in _MACRO.findall(pattern):
        if macro not in known:
            yield f"unknown macro {macro} ({hint(macro.upper(), known)})"


def _group_mistakes(layout: Layout) -> Mistakes:
    """Find groups that the other keys need, and a mode group without `modes`."""
    pattern = compiled_pattern(layout.pattern)
    groups = pattern.groupindex
    if pattern.fullmatch(""):
        yield "pattern", "matches an empty name"
    if "seq" not in groups and layout.order in _NUMERIC and layout.means != "single":
        problem = "has no group seq for the number that decides the order"
        yield "pattern", f"{problem}: add {{SEQ}}, or set order to name or arrival"
    if layout.grouped and "name" not in groups:
        yield "grouped", "needs a group (?P<name>...) in the pattern, to tell the locks apart"
    if layout.modes and "mode" not in groups:
        yield "pattern", "needs a group (?P<mode>...), because modes are given"
    if not layout.modes and "mode" in groups:
        yield "pattern", "has a group mode, so modes must say what its words mean"
    if layout.modes:
        lacking = (word for word in _mode_words(layout.pattern) if word not in layout.modes)
        for word in lacking:
            yield "modes", f'has no entry for "{word}", which the group mode can match'


def _mode_words(pattern: str) -> Iterator[str]:
    """Yield the words that a simple mode group can match."""
    match = _SIMPLE_MODES.search(pattern)
    if match:
        yield from match[1] or match[2].split("|")


def _read_mode_mistakes(layout: Layout) -> Mistakes:
    is_read_write = layout.means == "read-write"
    if layout.watch == "first-writer" and not is_read_write:
        yield "watch", "first-writer needs a read-write lock: a mode that reads, or that kind"
    if is_read_write and layout.modes and "read" not in layout.modes.values():
        yield "kind", "read-write needs a mode that reads"
