"""What somebody who is not looking has to hear: new trouble that is proven, each cause once.

What was wrong already when the first picture came is told in one sentence and wakes nobody. What
comes in crowds is counted: three sentences in ten seconds are as many as anybody can read.

Tells of new trouble: in a corner of the screen, by the bell, and to whoever was set to hear.
"""

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from zktop.model.facts import Millis
from zktop.model.findings.finding import Finding
from zktop.model.format import several
from zktop.model.report import Report
from zktop.ui.screens.common.status_codes import SURE

if TYPE_CHECKING:
    from zktop.ui.app import Zktop

AT_ONCE: Final = 3  # sentences
WITHIN_MS: Final = 10_000
BEGINNING_MS: Final = 3_000  # what is older than the first picture is found out in this time
FORGOTTEN_MS: Final = 60_000  # what was gone for so long is news when it comes back


class NewAlerts(NamedTuple):
    """What to tell: new findings, and how many more there are that nobody could read."""

    findings: tuple[Finding, ...] = ()
    more: int = 0
    was_there: tuple[Finding, ...] = ()  # at the first picture


class AlertFilter:
    """Told of every report, in order."""

    def __init__(self) -> None:
        """Begin without having seen any."""
        self._first: Millis | None = None
        self._seen: dict[str, Millis] = {}  # first look at what is there now
        self._known: dict[str, Millis] = {}  # what nobody has to hear again, and when it was there
        self._told: deque[Millis] = deque(maxlen=AT_ONCE)
        self._more = 0

    def look(self, report: Report) -> NewAlerts:
        """Tell what is new in this report."""
        now = report.now
        red = {one.id: one for one in red_ones(report)}
        self._seen = {name: self._seen.get(name, now) for name in red}
        self._known = {
            name: now if name in red else at
            for name, at in self._known.items()
            if name in red or now - at < FORGOTTEN_MS
        }
        if self._first is None:
            self._first = now
            self._known = dict.fromkeys(red, now)
            return NewAlerts(was_there=tuple(red.values()))
        fresh = [
            one
            for name, one in red.items()
            if name not in self._known and (one.at_once or self._seen[name] < now)
        ]
        self._known |= dict.fromkeys((one.id for one in fresh), now)
        return self._rationed([one for one in fresh if not self._is_old(one, now)], now)

    def _is_old(self, finding: Finding, now: Millis) -> bool:
        """Tell what was there before us, and could only be proven by looking twice."""
        first = self._first or 0
        return now < first + BEGINNING_MS and (finding.since is None or finding.since <= first)

    def _rationed(self, fresh: list[Finding], now: Millis) -> NewAlerts:
        while self._told and now - self._told[0] >= WITHIN_MS:
            self._told.popleft()
        room = AT_ONCE - len(self._told)
        self._told.extend([now] * min(room, len(fresh)))
        self._more += len(fresh[room:])
        more = self._more if room else 0
        self._more -= more
        return NewAlerts(tuple(fresh[:room]), more)


def red_ones(report: Report) -> Iterator[Finding]:
    """Give what is wrong beyond doubt, and no consequence of something else.

    A deadlock whose places were all seen at one time is such, even where nobody can tell whether
    its sessions are threads.
    """
    proven = {one.id for one in report.deadlocks if one.coexistence_proven}
    for finding in report.findings:
        if finding.severity != "critical" or finding.cause:
            continue
        if finding.confidence in SURE or finding.id in proven:
            yield finding


def summary(findings: tuple[Finding, ...]) -> str:
    """Say what is wrong in one sentence for all."""
    first = findings[0].sentence
    rest = len(findings) - 1
    return first if not rest else f"{first} (and {rest} more; n goes through them)"


WIDE, TALL = 100, 30  # cells; in a smaller window whole sentences hide what they are about


class Notifier:
    """Looks at each report of a live ensemble once."""

    def __init__(self, app: "Zktop") -> None:
        self._app = app
        self._alarms = AlertFilter()

    def look(self, report: Report) -> None:
        """Tell what is new in it; of a recording nobody has to be told."""
        if self._app.feed.is_live:
            self._cry(self._alarms.look(report))

    def _cry(self, news: NewAlerts) -> None:
        app, herald = self._app, self._app.look.herald
        if news.was_there:
            app.tell(summary(news.was_there), is_wrong=True)
        is_small = app.size.width < WIDE or app.size.height < TALL
        for finding in news.findings:
            app.tell(brief(finding) if is_small else finding.sentence, is_wrong=True)
            if herald is not None:
                herald.call(finding, app.complain)
        if news.more:
            app.tell(f"{news.more} more critical findings; n goes through them.", is_wrong=True)
        if news.findings and app.look.bell:
            app.bell()


def brief(finding: Finding) -> str:
    """Say what is wrong, and where; the rest is one key away."""
    what = finding.name.replace("-", " ").upper()
    where = finding.lock or several(finding.locks)
    return f"{what}: {where}. n shows it." if where else f"{what}. n shows it."
