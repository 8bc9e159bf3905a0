"""What no single value can get wrong: keys that contradict each other.

What is wrong with a layout that a user wrote: the key, and the end of a sentence about it.
"""

import re
import warnings
from collections.abc import Iterator

from zktop.config.reader import Check
from zktop.config.types import SaslSection, TlsSection
from zktop.config.values import one_of
from zktop.model.layouts.layout import MACROS, ClientSight, Layout, compiled
from zktop.model.text import nearest

Mistakes = Iterator[tuple[str, str]]

_GROUPS = ("seq", "mode", "id", "name")
_LONGEST_PATTERN = 2_000
_NUMERIC = ("number", "text", "magnitude", "digits", "unsigned")
_MACRO = re.compile(r"(?<!\\)(?<!\\N)\{[A-Za-z_]\w*\}")  # `\{` is a brace, `\N{DASH}` a character
_SIMPLE_MODES = re.compile(r"\(\?P<mode>(?:\[(\w+)\]|([\w|]+))\)")  # [rw], or read|write


def check(layout: Layout) -> Mistakes:
    """Say everything that keeps a layout from working.

    >>> list(check(Layout(name="mine", pattern="^job-{SEK}$")))
    [('pattern', 'unknown macro {SEK} (did you mean {SEQ}?)')]
    >>> list(check(Layout(name="mine", pattern="^job-(?P<idd>.+)-{SEQ}$")))
    [('pattern', 'unknown group "idd" (did you mean id?)')]
    """
    broken = {key: _broken(getattr(layout, key)) for key in ("pattern", "unseen")}
    yield from ((key, what) for key, what in broken.items() if what is not None)
    yield from _name(layout)
    if broken["pattern"] is None:
        wrong = [*_words(layout)]
        yield from wrong or _groups(layout)
    yield from _rules(layout)


def check_sight(sight: ClientSight) -> Mistakes:
    """Say everything that keeps a sight from working.

    >>> list(check_sight(ClientSight(counts="all", key="^(.*)-(.*)$")))
    [('key', 'needs exactly one group, like (.*), for what is compared')]
    """
    macros = (*MACROS, "{NAME}")
    for field in ("counts", "key", "bars"):
        written = getattr(sight, field)
        pattern = written.replace("{NAME}", "x")
        broken = _broken(pattern)
        unknown = [*_unknown_macros(written, macros)]
        yield from ((field, what) for what in ([broken] if broken else unknown))
        is_readable = field == "key" and written and not (broken or unknown)
        if is_readable and compiled(pattern).groups != 1:
            yield field, "needs exactly one group, like (.*), for what is compared"


def _broken(pattern: str) -> str | None:
    if len(pattern) > _LONGEST_PATTERN:
        return f"is longer than {_LONGEST_PATTERN} characters"
    try:
        with warnings.catch_warnings(action="ignore"):  # of what later Pythons may read otherwise
            compiled(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no regular expression: {error}"
    return None


def _name(layout: Layout) -> Mistakes:
    if not re.fullmatch(r"\w[\w.-]*", layout.name):
        yield "name", "may have letters, digits, dots and dashes alone: it stands in --layout"


def _words(layout: Layout) -> Mistakes:
    """Say which macros and groups nothing is known of."""
    yield from (("pattern", what) for what in _unknown_macros(layout.pattern, tuple(MACROS)))
    for group in compiled(layout.pattern).groupindex:
        if group not in _GROUPS:
            yield "pattern", f'unknown group "{group}" ({_hint(group, _GROUPS)})'


def _unknown_macros(pattern: str, known: tuple[str, ...]) -> Iterator[str]:
    for macro in _MACRO.findall(pattern):
        if macro not in known:
            yield f"unknown macro {macro} ({_hint(macro.upper(), known)})"


def _groups(layout: Layout) -> Mistakes:
    """Say which groups are missing, or mean nothing."""
    pattern = compiled(layout.pattern)
    groups = pattern.groupindex
    if pattern.fullmatch(""):
        yield "pattern", "matches an empty name"
    if "seq" not in groups and layout.order in _NUMERIC and layout.means != "single":
        yield (
            "pattern",
            (
                "has no group seq for the number that decides the order: "
                "add {SEQ}, or say order: name or order: arrival"
            ),
        )
    if layout.grouped and "name" not in groups:
        yield "grouped", "needs a group (?P<name>...) in the pattern, to tell the locks apart"
    if layout.modes and "mode" not in groups:
        yield "pattern", "needs a group (?P<mode>...), because modes are given"
    if not layout.modes and "mode" in groups:
        yield "pattern", "has a group mode, so modes must say what its words mean"
    if layout.modes:
        lacking = (word for word in _spelled(layout.pattern) if word not in layout.modes)
        for word in lacking:
            yield "modes", f'has no entry for "{word}", which the group mode can match'


def _spelled(pattern: str) -> Iterator[str]:
    """Give the words that a simple mode group can match."""
    found = _SIMPLE_MODES.search(pattern)
    if found:
        yield from found[1] or found[2].split("|")


def _rules(layout: Layout) -> Mistakes:
    reads = layout.means == "read-write"
    if layout.watch == "first-writer" and not reads:
        yield "watch", "first-writer needs a mode that reads"
    if reads and layout.modes and "read" not in layout.modes.values():
        yield "kind", "read-write needs a mode that reads"


def _hint(word: str, known: tuple[str, ...]) -> str:
    meant = nearest(word, known)
    return f"did you mean {meant}?" if meant else f"known: {' '.join(known)}"


def checks(layouts: set[str]) -> dict[type, Check]:
    """Give the checks of finished values by their type; these layouts are known."""
    known = one_of("layout", layouts)

    def layout_mistakes(layout: Layout) -> Iterator[tuple[str, str]]:
        yield from check(layout)
        for index, name in enumerate(layout.sees):
            try:
                known(name)
            except ValueError as error:
                yield f"sees[{index}]", str(error)

    return {
        Layout: layout_mistakes,
        ClientSight: check_sight,
        SaslSection: _sasl_mistakes,
        TlsSection: _tls_mistakes,
    }


def _tls_mistakes(tls: TlsSection) -> Iterator[tuple[str, str]]:
    if tls.key is not None and tls.cert is None:
        yield "key", "needs a certificate (cert or --tls-cert)"


def _sasl_mistakes(sasl: SaslSection) -> Iterator[tuple[str, str]]:
    if sasl.mechanism != "GSSAPI" and (sasl.username is None or sasl.password is None):
        yield "mechanism", f"{sasl.mechanism} needs a username and a password"
