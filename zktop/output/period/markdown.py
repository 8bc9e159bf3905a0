"""A period as Markdown, for a ticket or a chat."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from zktop.model.format import count, spoken
from zktop.model.waits.ways_out import process
from zktop.output.period.period_schema import (
    BoundedJson,
    ChargeJson,
    ClientAccountJson,
    FiguresJson,
    LockAccountJson,
    PeriodDeadlockJson,
    PeriodFindingJson,
    PeriodJson,
    SpreadJson,
)
from zktop.output.text import CONFIDENCE_WORDS, blind_lines, step_sentence

MAX_ROWS: Final = 15  # of a table
MAX_FINDINGS: Final = 30
MAX_STEPS: Final = 12
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>|~&#])")
_FIGURES: Final = ("waits", "p50", "p99", "max", "held p50", "held p99", "held max")
_COUNTS: Final = ("gave up", "deadlocks", "expiries")

Row = Sequence[str]


def plain(text: str) -> str:
    r"""Escape whatever Markdown or HTML would interpret.

    >>> plain("/locks/a|b <b>*x*")
    '/locks/a\\|b \\<b\\>\\*x\\*'
    """
    return _SPECIAL.sub(r"\\\1", text)


def lines(period: PeriodJson) -> Iterator[str]:
    """Yield the lines of the document."""
    yield f"# Locks of {plain(period.hosts or 'ZooKeeper')}{plain(period.chroot)}"
    yield from ("", f"{period.since} to {period.until} ({spoken(period.duration_s)}).")
    yield from ("", plain(summary(period)))
    for deadlock in period.deadlocks:
        yield from ("", *_deadlock(deadlock))
    yield from _findings(period)
    yield from _accounts(period)
    yield from ("", "## How much was seen", "")
    yield from (f"* {plain(line)}" for line in seen_lines(period))


def summary(period: PeriodJson) -> str:
    """Say in one or two sentences what happened."""
    own = [one for one in period.findings if one.follows_from is None]
    text = f"{count(len(period.deadlocks), 'deadlock')}, {count(len(own), 'other finding')}."
    accounting = period.accounting
    if not accounting.blocked_s:
        return f"{text} No client was seen waiting."
    text += f" Clients waited {amount(accounting.blocked_s, accounting.blocked_is)} in all"
    worst = accounting.clients[0] if accounting.clients else None
    if worst is None or not worst.blocked_others.at_most_s:
        return f"{text}."
    return f"{text}; {charge(worst.blocked_others)} of it for locks that {worst.name} held."


def seen_lines(period: PeriodJson) -> Iterator[str]:
    """Say how much of the period was seen, and what was not."""
    seen = period.seen
    yield f"{percent(seen.share)} of the time, with a connection to ZooKeeper."
    if seen.contenders is not None:
        yield f"{percent(seen.contenders)} of the clients that joined a queue."
    if (accounting := period.accounting).blocked_is != "exact":
        yield "So the sums of waits are lower bounds."
    if any(accounting.left_out):
        clients, locks, classes = accounting.left_out
        yield (
            f"Not listed, because they cost least: {count(clients, 'client')}, "
            f"{count(locks, 'lock')}, {count(classes, 'class', 'classes')}."
        )
    yield from seen.notes
    yield from blind_lines(seen.blind)


def percent(share: float) -> str:
    """Format a share; 100 % only if nothing is missing.

    >>> percent(1), percent(0.99999), percent(0.5)
    ('100 %', '99.9 %', '50 %')
    """
    if share == 1:
        return "100 %"
    return f"{min(99.9, round(100 * share, 1)):g} %"


def amount(seconds: float, bound: str = "exact") -> str:
    """Format seconds; a lower bound with its sign.

    >>> amount(22.587), amount(12_345, "at-least"), amount(0)
    ('22.6 s', '≥ 12 345 s', '0')
    """
    sign = "≥ " if bound == "at-least" else ""
    if not seconds:
        return f"{sign}0"
    places = 0 if seconds >= 100 else 1 if seconds >= 1 else 2  # noqa: PLR2004  three digits
    digits = f"{seconds:,.{places}f}"
    return f"{sign}{digits.replace(',', ' ')} s"


def charge(one: ChargeJson) -> str:
    """Format a charge: exact, or between two bounds."""
    if one.at_least_s == one.at_most_s:
        return amount(one.at_most_s)
    if not one.at_least_s:
        return f"at most {amount(one.at_most_s)}"
    return f"{amount(one.at_least_s).removesuffix(' s')} to {amount(one.at_most_s)}"


def _deadlock(case: PeriodDeadlockJson) -> Iterator[str]:
    dead = case.deadlock
    sure = CONFIDENCE_WORDS[dead.confidence]
    yield f"## Deadlock #{dead.number} ({dead.kind}, {sure})"
    ended = f"over since {case.ended}" if case.ended else "not over"
    yield from (
        "",
        f"From {dead.since or case.first_seen}; {ended}.",
        "",
        plain(dead.sentence),
        "",
    )
    names = {step.actor: step.name for step in dead.steps}
    for number, step in enumerate(dead.steps[:MAX_STEPS], start=1):
        yield f"{number}. {plain(step_sentence(step, names))}"
    if len(dead.steps) > MAX_STEPS:
        yield f"{MAX_STEPS + 1}. … {len(dead.steps) - MAX_STEPS} more"
    if dead.behind:
        yield from ("", f"{count(dead.behind, 'more client')} waited behind it.")
    yield ""
    if case.how:
        yield f"How it ended: {plain(case.how)}."
        return
    for way in dead.ways_out[:1]:
        client = process(way.name, way.actor, way.client)
        yield plain(f"To resolve it: kill {client}, which {way.why}: unblocks {way.frees}.")


def _findings(period: PeriodJson) -> Iterator[str]:
    found = [one for one in period.findings if one.follows_from is None]
    if not found:
        return
    yield from ("", "## Findings", "")
    for one in found[:MAX_FINDINGS]:
        yield _finding(one)
    more = len(found) - MAX_FINDINGS + period.findings_left_out
    if more > 0:
        yield f"* … {count(more, 'more finding')}"


def _finding(one: PeriodFindingJson) -> str:
    found = one.finding
    sure = CONFIDENCE_WORDS[found.confidence]
    until = f" to {one.last_seen}" if one.is_over else ", not over"
    head = f"**{found.severity}, {found.name} ({found.rule}, {sure})**"
    return f"* {head}, {one.first_seen}{until}: {plain(found.sentence)}"


def _accounts(period: PeriodJson) -> Iterator[str]:
    accounting = period.accounting
    yield from ("", "## Who made others wait", "")
    yield (
        "Seconds that others waited for locks which a client held, added up. WAITING ITSELF is "
        "the part of it in which that client waited for another lock: look at its holder."
    )
    yield from _table(
        (
            "client",
            "blocked others",
            "waiting itself",
            "waited",
            "worst lock",
            *_FIGURES,
            *_COUNTS,
        ),
        [_client_row(one) for one in accounting.clients],
    )
    yield from ("", "## Locks")
    yield from _table(
        ("lock", "clients waited", "mostly for", *_FIGURES, *_COUNTS),
        [_lock_row(one) for one in accounting.locks],
    )
    if any(one.locks > 1 for one in accounting.classes):
        yield from ("", "## Classes of locks")
        yield from _table(
            ("class", "locks", "clients waited", *_FIGURES, *_COUNTS),
            [_class_row(one) for one in accounting.classes],
        )


def _client_row(one: ClientAccountJson) -> Row:
    where = f"{one.name} ({one.client})" if one.client and one.client != one.name else one.name
    return (
        where,
        charge(one.blocked_others),
        amount(one.blocked_others.waiting_itself_s),
        amount(one.waited_s),
        one.worst_lock or "",
        *_figures(one.figures),
    )


def _lock_row(one: LockAccountJson) -> Row:
    most = [f"{each.name} {charge(each.blocked_others)}" for each in one.charged[:1]]
    return one.path, amount(one.blocked_s, one.blocked_is), *(most or [""]), *_figures(one.figures)


def _class_row(one: LockAccountJson) -> Row:
    return one.path, str(one.locks), amount(one.blocked_s, one.blocked_is), *_figures(one.figures)


def _figures(one: FiguresJson) -> Row:
    return (
        *_spread(one.waits),
        *_spread(one.holds)[1:],
        str(one.given_up),
        str(one.deadlocks),
        str(one.expiries),
    )


def _spread(one: SpreadJson) -> Row:
    return str(one.number), *map(_bounded, (one.p50, one.p99, one.max))


def _bounded(one: BoundedJson | None) -> str:
    return "" if one is None else f"{'≥ ' if one.is_ == 'at-least' else ''}{spoken(one.s)}"


def _table(head: Row, rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        yield from ("", "None.")
        return
    yield from ("", _cells(head), _cells("---" for _ in head))
    yield from (_cells(map(plain, row)) for row in rows[:MAX_ROWS])
    if len(rows) > MAX_ROWS:
        yield from ("", f"… and {len(rows) - MAX_ROWS} more.")


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
