"""The sentences and tables about a period, for every document format.

The verdicts are those of the screens. Nothing is escaped here, because each format does that.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from zktop.model.accounting.accounts import NO_HOLDER
from zktop.model.format import MINUTE, clock, count, millis, several, spoken, unblocks
from zktop.model.layouts.layout import MODE_LETTERS, lock_in_mode
from zktop.model.waits.confidence import CONFIDENCE_WORD
from zktop.model.waits.ways_out import kill_or_wait, process
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
from zktop.output.schema import DeadlockJson, ExpiredSessionJson, FreedLockJson
from zktop.output.snapshot_text import blind_lines, step_sentence

MAX_FINDINGS: Final = 100
MAX_STEPS: Final = 12
LEAST_SHARE: Final = 0.001  # a smaller one would be rounded to nothing

Cell = tuple[str, float | None]  # a text, and the number to sort it by, if any
_FIGURES: Final = ("waits", "p50", "p99", "max", "held p50", "held p99", "held max")
_COUNTS: Final = ("failed waits", "deadlocks", "expired nodes")


class WordTable(msgspec.Struct, frozen=True):
    """A table, whose first column is a name."""

    title: str
    about: str
    head: tuple[str, ...]
    rows: list[tuple[Cell, ...]]


class RingEdge(msgspec.Struct, frozen=True):
    """One client of a drawn deadlock, the lock it waits for, and the index of its holder."""

    name: str
    lock: str
    holder: int


class DeadlockWords(msgspec.Struct, frozen=True):
    """A deadlock, step by step."""

    title: str
    when: str
    begin: str
    end: str | None
    sentence: str
    steps: list[str]
    behind: str
    way_out: str  # or how it ended
    ring: list[RingEdge]


class FindingWords(msgspec.Struct, frozen=True):
    """A finding, with what to do."""

    severity: str
    title: str
    when: str
    begin: str
    sentence: str
    advice: str


class Document(msgspec.Struct, frozen=True):
    """The content of a document about a period."""

    title: str
    period: str
    summary: str
    deadlocks: list[DeadlockWords]
    findings: list[FindingWords]
    more_findings: str
    tables: list[WordTable]
    seen: list[str]
    modes: dict[str, str]  # what the letters before the names of clients mean


def document(period: PeriodJson) -> Document:
    day = period.since[:10]
    own = _independent(period)
    more = len(own) - MAX_FINDINGS + period.findings_left_out
    end = _time(period.until, day)
    return Document(
        title=f"Locks of {period.hosts or 'ZooKeeper'}{period.chroot}",
        period=f"{day} {_time(period.since, day)} to {end} ({spoken(period.duration_s)})",
        summary=summary(period),
        deadlocks=[_deadlock(deadlock, day) for deadlock in period.deadlocks],
        findings=[_finding(case, day) for case in own[:MAX_FINDINGS]],
        more_findings=count(more, "more finding") if more > 0 else "",
        tables=list(_tables(period)),
        seen=list(seen_lines(period)),
        modes={letter: mode for mode, letter in MODE_LETTERS.items()},
    )


def _independent(period: PeriodJson) -> list[PeriodFindingJson]:
    """Return the findings that follow from no other."""
    return [case for case in period.findings if case.follows_from is None]


def summary(period: PeriodJson) -> str:
    """Summarise the period in one or two sentences."""
    own = _independent(period)
    others = count(len(own) + period.findings_left_out, "other finding")
    text = f"{count(len(period.deadlocks), 'deadlock')}, {others}."
    accounting = period.accounting
    if not accounting.blocked_s:
        return f"{text} No client was seen waiting for a measurable time."
    text += f" Clients waited {amount(accounting.blocked_s, accounting.blocked_is)} in all"
    worst = accounting.clients[0] if accounting.clients else None
    if worst is None or not worst.blocked_others.at_most_s:
        return f"{text}."
    holder = "no client" if worst.actor == NO_HOLDER else worst.name
    return f"{text}; {charge(worst.blocked_others)} of it for locks that {holder} held."


def seen_lines(period: PeriodJson) -> Iterator[str]:
    """Yield lines about how much of the period was seen, and what was missed."""
    seen = period.seen
    rest = "; the rest was not seen" if seen.share < 1 else ""
    yield f"{percent(seen.share)} of the time{rest}."
    if seen.contenders is not None:
        yield (
            f"{percent(seen.contenders)} of the nodes that clients created in the locks that were "
            "seen; a lock that came and went between two looks was not."
        )
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
    """Format a share: as 100 % only if nothing is missing, as 0 % only if everything is.

    >>> percent(1), percent(0.99999), percent(0.5), percent(0)
    ('100 %', '99.9 %', '50 %', '0 %')
    >>> percent(0.0003)
    'less than 0.1 %'
    """
    if share == 1:
        return "100 %"
    if 0 < share < LEAST_SHARE:
        return f"less than {100 * LEAST_SHARE:g} %"
    return f"{min(99.9, round(100 * share, 1)):g} %"


def amount(seconds: float, bound: str = "exact") -> str:
    """Format a sum of durations, to three digits below a minute. A lower bound gets a sign.

    >>> amount(22.587), amount(0.5), amount(86_465, "at-least"), amount(0)
    ('22.6s', '0.50s', '≥ 1d00h', '0')
    >>> amount(59.97), amount(0.997), amount(5)
    ('1m00s', '1.0s', '5.0s')
    """
    sign = "≥ " if bound == "at-least" else ""
    if not seconds:
        return f"{sign}0"
    if round(seconds, 1) >= MINUTE:
        return f"{sign}{spoken(max(seconds, MINUTE))}"
    return f"{sign}{seconds:.1f}s" if round(seconds, 2) >= 1 else f"{sign}{seconds:.2f}s"


def charge(charged: ChargeJson) -> str:
    """Format a charge: exact, or between two bounds."""
    if charged.at_least_s == charged.at_most_s:
        return amount(charged.at_most_s)
    if not charged.at_least_s:
        return f"at most {amount(charged.at_most_s)}"
    return f"{amount(charged.at_least_s)} to {amount(charged.at_most_s)}"


def _time(text: str, day: str) -> str:
    """Format the time of day, with the date if it is another day."""
    at = clock(millis(text))
    return at if text.startswith(day) else f"{text[:10]} {at}"


def _deadlock(case: PeriodDeadlockJson, day: str) -> DeadlockWords:
    dead = case.deadlock
    begin = dead.since or case.first_seen
    ended = f", over at {_time(case.ended, day)}" if case.ended else ", not over"
    names = {step.actor: step.name for step in dead.steps}
    steps = [step_sentence(step, names) for step in dead.steps[:MAX_STEPS]]
    more = len(dead.steps) - MAX_STEPS
    return DeadlockWords(
        title=f"Deadlock #{dead.number} ({dead.kind}, {CONFIDENCE_WORD[dead.confidence]})",
        when=f"From {_time(begin, day)}{ended}",
        begin=begin,
        end=case.ended,
        sentence=dead.sentence,
        steps=[*steps, f"… {count(more, 'more step')}"] if more > 0 else steps,
        behind=f"{count(dead.behind, 'more client')} waited behind it." if dead.behind else "",
        way_out=_ending(case.how) if case.ended else _way_out(dead),
        ring=_ring(dead) if more <= 0 else [],
    )


def _ending(how: str | None) -> str:
    return f"How it ended: {how}." if how else ""


def _way_out(dead: DeadlockJson) -> str:
    for way in dead.ways_out:
        client = process(way.name, way.actor, way.client)
        freed = unblocks(way.frees, dead.actors)
        return f"To resolve it, {kill_or_wait(way.why)} {client}, which {way.why}: {freed}."
    return ""


def _ring(dead: DeadlockJson) -> list[RingEdge]:
    """Return the steps as edges, or none if they are not one ring."""
    indexes = {step.actor: index for index, step in enumerate(dead.steps)}
    if any(step.waits_for not in indexes for step in dead.steps):
        return []
    return [
        RingEdge(
            step.name,
            lock_in_mode(step.waits.mode, step.waits.lock),
            indexes[step.waits_for],
        )
        for step in dead.steps
    ]


def _finding(case: PeriodFindingJson, day: str) -> FindingWords:
    finding = case.finding
    begin = min(case.first_seen, finding.since or case.first_seen)
    until = f" to {_time(case.last_seen, day)}" if case.is_over else ", not over"
    often = f", {case.times} times" if case.times > 1 else ""
    return FindingWords(
        severity=finding.severity,
        title=f"{finding.name} ({finding.rule}, {CONFIDENCE_WORD[finding.confidence]})",
        when=f"{_time(begin, day)}{until}{often}",
        begin=begin,
        sentence=finding.sentence,
        advice=finding.advice,
    )


def _tables(period: PeriodJson) -> Iterator[WordTable]:
    accounting = period.accounting
    figures = (*_FIGURES, *_COUNTS)
    yield WordTable(
        "Who made others wait",
        "BLOCKED OTHERS adds up how long others waited for locks that a client held; its own "
        "waits for a lock that it already held are included. WAITING ITSELF is the part of that "
        "time in which it waited for a lock itself, whose holder is the cause.",
        ("client", "blocked others", "waiting itself", "waited", "worst lock", *figures),
        [_client_row(client) for client in accounting.clients],
    )
    yield WordTable(
        "Locks held or waited for",
        "",
        ("lock", "clients waited", "mostly for", *figures),
        [_lock_row(lock) for lock in accounting.locks],
    )
    if period.expiries:
        day = period.since[:10]
        yield WordTable(
            "Expired sessions",
            "Sessions that expired while they held locks or waited for them.",
            ("client", "expired", "held", "who got it next", "waited for"),
            [_expiry_row(expired, day) for expired in period.expiries],
        )
    if any(account.locks > 1 for account in accounting.classes):
        yield WordTable(
            "Classes of locks",
            "Locks whose paths differ only in ids.",
            ("class", "locks", "clients waited", *figures),
            [_class_row(account) for account in accounting.classes],
        )


def _client_row(account: ClientAccountJson) -> tuple[Cell, ...]:
    has_address = account.client and account.client != account.name
    blocked = account.blocked_others
    return (
        (f"{account.name} ({account.client})" if has_address else account.name, None),
        (charge(blocked), blocked.at_most_s),
        (amount(blocked.waiting_itself_s), blocked.waiting_itself_s),
        (amount(account.waited_s), account.waited_s),
        (account.worst_lock or "", None),
        *_figures(account.figures),
    )


def _lock_row(account: LockAccountJson) -> tuple[Cell, ...]:
    costliest = [f"{actor.name} {charge(actor.blocked_others)}" for actor in account.charged[:1]]
    waited = amount(account.blocked_s, account.blocked_is)
    return (
        (account.path, None),
        (waited, account.blocked_s),
        ("".join(costliest), None),
        *_figures(account.figures),
    )


def _class_row(account: LockAccountJson) -> tuple[Cell, ...]:
    waited = amount(account.blocked_s, account.blocked_is)
    return (
        (account.path, None),
        _number(account.locks),
        (waited, account.blocked_s),
        *_figures(account.figures),
    )


def _expiry_row(expired: ExpiredSessionJson, day: str) -> tuple[Cell, ...]:
    name = expired.owner or expired.client or expired.session
    others = (text for text in (expired.client, expired.session) if text and text != name)
    place = ", ".join(others)
    return (
        (f"{name} ({place})" if place else name, None),
        (_time(expired.at, day), float(millis(expired.at))),
        (several(freed.lock for freed in expired.freed), None),
        (several(map(_next, expired.freed)), None),
        (several(expired.left), None),
    )


def _next(freed: FreedLockJson) -> str:
    if freed.after_s is None:
        return "none yet"
    name = freed.next or freed.next_session or "an unknown client"
    return f"{name} after {spoken(freed.after_s)}"


def _figures(figures: FiguresJson) -> tuple[Cell, ...]:
    counts = map(_number, (figures.given_up, figures.deadlocks, figures.expiries))
    return _number(figures.waits.number), *_spread(figures.waits), *_spread(figures.holds), *counts


def _spread(spread: SpreadJson) -> Iterator[Cell]:
    return map(_bounded, (spread.p50, spread.p99, spread.max))


def _bounded(duration: BoundedJson | None) -> Cell:
    if duration is None:
        return "", None
    return f"{'≥ ' if duration.is_ == 'at-least' else ''}{spoken(duration.s)}", duration.s


def _number(number: int) -> Cell:
    return str(number), number
