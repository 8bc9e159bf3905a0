"""Sums up a period: takes its reports, returns the JSON of `zktop report`."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from zktop.model.accounting.accounts import Accounts, ActorAccount, Charge, Figures, LockAccount
from zktop.model.accounting.ledger import Ledger
from zktop.model.accounting.spread import Spread
from zktop.model.accounting.unseen_znodes import UnseenZnodes
from zktop.model.facts import Millis
from zktop.model.format import count, iso
from zktop.model.history.events import Elapsed, ElapsedBound
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.output.period.cases import CaseLog, DeadlockCase, FindingCase
from zktop.output.period.period_schema import (
    PERIOD,
    AccountingJson,
    BoundedJson,
    ChargedJson,
    ChargeJson,
    ClientAccountJson,
    FiguresJson,
    LockAccountJson,
    PeriodDeadlockJson,
    PeriodFindingJson,
    PeriodJson,
    SeenJson,
    SpreadJson,
)
from zktop.output.period.timeline import Timeline, TimelineJson
from zktop.output.schema import BlindJson
from zktop.output.snapshot_json import (
    deadlock_json,
    expired_json,
    finding_json,
    json_of,
    time_or_null,
)

MAX_ACCOUNTS: Final = 200  # each of clients, locks and classes
MAX_FINDINGS: Final = 500
MAX_UNSEEN_FOLDERS: Final = 5  # with znodes that no look has shown


class Origin(NamedTuple):
    """Where the reports come from, and what is missing from them."""

    hosts: str | None
    chroot: str = ""
    notes: Sequence[str] = ()


class PeriodSummary(NamedTuple):
    """What happened in a period, and its queues over time."""

    period: PeriodJson
    timeline: TimelineJson


class Period:
    """Takes every report of a run in order, including those from before the period."""

    def __init__(self, since: Millis | None = None) -> None:
        self._since = since or 0
        self._ledger = Ledger(since)
        self._cases = CaseLog()
        self._unseen = UnseenZnodes(since)
        self._timeline = Timeline(since)
        self._report: Report | None = None

    def look(self, report: Report) -> None:
        self._ledger.look(report)
        self._unseen.look(report)
        if report.now >= self._since:
            self._look_at_beginning()
            self._cases.look(report, report.now)
        self._timeline.look(report, self._ledger)
        self._report = report

    def _look_at_beginning(self) -> None:
        """Count the last report before the period: its state holds when the period begins."""
        if self._report is not None and self._report.now < self._since:
            self._cases.look(self._report, self._since)

    def summary(self, origin: Origin, until: Millis | None = None) -> PeriodSummary | None:
        """Sum up the period. Return None if none of it was seen.

        With `until`, assume that nothing changed between the last report and then.
        """
        report = self._report
        if report is None or (until or report.now) < self._since:
            return None
        self._look_at_beginning()
        accounts = self._ledger.accounts(until)
        if 0 < accounts.until - accounts.since <= accounts.unseen_ms:
            return None
        until = accounts.until
        findings = self._cases.findings()
        summary = PeriodJson(
            schema=PERIOD,
            hosts=origin.hosts,
            chroot=origin.chroot,
            since=iso(accounts.since),
            until=iso(accounts.until),
            duration_s=_seconds(accounts.until - accounts.since),
            locks=len(report.paths),
            seen=_seen(accounts, report, [*origin.notes, *_unseen_znodes(self._unseen)]),
            deadlocks=[_deadlock(case) for case in self._cases.deadlocks()],
            findings=[_finding(case, until) for case in findings[:MAX_FINDINGS]],
            findings_left_out=max(0, len(findings) - MAX_FINDINGS),
            expiries=[
                expired_json(expired)
                for expired in self._cases.expiries(accounts.since)[-MAX_ACCOUNTS:]
            ],
            accounting=accounting_json(accounts),
        )
        return PeriodSummary(summary, self._timeline.json(accounts))


def accounting_json(accounts: Accounts) -> AccountingJson:
    names = {actor.actor: actor.name for actor in accounts.actors}
    bound: ElapsedBound = "at-least" if accounts.is_lower_bound else "exact"
    parts = (accounts.actors, accounts.locks, accounts.classes)
    return AccountingJson(
        blocked_s=_seconds(accounts.blocked_ms),
        blocked_is=bound,
        expired_sessions=accounts.expiries,
        clients=[_client(actor) for actor in accounts.actors[:MAX_ACCOUNTS]],
        locks=[_lock(lock, accounts, names) for lock in accounts.locks[:MAX_ACCOUNTS]],
        classes=[
            _lock(lock_class, accounts, names) for lock_class in accounts.classes[:MAX_ACCOUNTS]
        ],
        left_out=tuple(max(0, len(part) - MAX_ACCOUNTS) for part in parts),  # type: ignore[arg-type]  # always three parts
    )


def _seen(accounts: Accounts, report: Report, notes: Sequence[str]) -> SeenJson:
    length = accounts.until - accounts.since
    new_contenders = accounts.seen + accounts.missed
    return SeenJson(
        share=_share(length - accounts.unseen_ms, length) if length else 1.0,
        contenders=_share(accounts.seen, new_contenders) if new_contenders else None,
        notes=list(notes),
        blind=[BlindJson(rule=spot.rule, why=spot.why) for spot in report.blind],
    )


def _unseen_znodes(unseen: UnseenZnodes) -> Iterator[str]:
    """Yield a sentence for each of the folders with the most znodes that no look has shown."""
    for folder, number in unseen.by_folder.most_common(MAX_UNSEEN_FOLDERS):
        may_be = "it may have been a lock" if number == 1 else "they may have been locks"
        znodes = count(number, "znode")
        yield f"At least {znodes} in {folder} came and went between two looks: {may_be}."


def _share(part: int, whole: int) -> float:
    """Return the share, rounded down so that it is 1 only if nothing is missing."""
    return part * 10_000 // whole / 10_000


def _deadlock(case: DeadlockCase) -> PeriodDeadlockJson:
    return PeriodDeadlockJson(
        deadlock=deadlock_json(case.deadlock),
        first_seen=iso(case.first_at),
        ended=time_or_null(case.ended_at),
        how=case.how,
    )


def _finding(case: FindingCase, until: Millis) -> PeriodFindingJson:
    """Convert a finding. Later looks of an import may have found it after `until`."""
    return PeriodFindingJson(
        finding=finding_json(case.finding),
        first_seen=iso(min(case.first_at, until)),
        last_seen=iso(min(case.last_at, until)),
        is_over=case.is_over,
        times=case.times,
        follows_from=case.finding.cause,
    )


def _client(account: ActorAccount) -> ClientAccountJson:
    return json_of(
        account,
        ClientAccountJson,
        client=account.client or None,
        blocked_others=_charge(account.charge),
        waited_s=_seconds(account.waited_ms),
        figures=_figures(account.figures),
    )


def _lock(account: LockAccount, accounts: Accounts, names: dict[str, Text]) -> LockAccountJson:
    """Convert the account of a lock, or of a class of locks."""
    is_lower_bound = accounts.unseen_ms or account.missed
    return json_of(
        account,
        LockAccountJson,
        blocked_s=_seconds(account.blocked_ms),
        blocked_is="at-least" if is_lower_bound else "exact",
        contenders_seen=account.seen,
        contenders_missed=account.missed,
        charged=[
            ChargedJson(
                actor=actor, name=names.get(actor, Text(actor)), blocked_others=_charge(charge)
            )
            for actor, charge in account.charged
        ],
        figures=_figures(account.figures),
    )


def _charge(charge: Charge) -> ChargeJson:
    return ChargeJson(
        at_least_s=_seconds(charge.alone_ms),
        at_most_s=_seconds(charge.at_most_ms),
        waiting_itself_s=_seconds(charge.itself_ms),
    )


def _figures(figures: Figures) -> FiguresJson:
    return json_of(
        figures, FiguresJson, waits=_spread(figures.waits), holds=_spread(figures.holds)
    )


def _spread(spread: Spread) -> SpreadJson:
    return SpreadJson(
        number=spread.number,
        p50=_bounded(spread.p50),
        p99=_bounded(spread.p99),
        max=_bounded(spread.longest),
    )


def _bounded(elapsed: Elapsed | None) -> BoundedJson | None:
    return None if elapsed is None else BoundedJson(s=_seconds(elapsed.ms), is_=elapsed.bound)


def _seconds(ms: Millis) -> float:
    return ms / 1000
