"""How it stands with a deadlock or finding now, beside the picture of when it was confirmed."""

from zktop.model.facts import Millis
from zktop.model.findings.words import clock
from zktop.model.report import Report
from zktop.model.waits.deadlock import Deadlock
from zktop.ui.draw.marks import ink_of_deadlock
from zktop.ui.draw.times import running
from zktop.ui.ink import Line, joined, line
from zktop.ui.tape import Case


def deadlock_status(case: Case, live: Deadlock | None, report: Report) -> Line:
    """Say whether it is still there, for how long, and who is behind it now."""
    if live is None:
        over = case.over_at
        told = f"over since {clock(over)}" if over is not None else "not there at this moment"
        lasted = _lasted(case, over)
        return joined([line((f" ○ {told}", "strong")), line(lasted) if lasted else ()], "   ")
    age = "" if live.since_ms is None else f" for {running(max(0, report.now - live.since_ms))}"
    behind = f"{live.behind} behind it" if live.behind else "nobody else behind it"
    there = "was there when the connection was lost," if report.is_lost else "still there"
    return joined([line((f" ● {there}{age}", ink_of_deadlock(live))), line(behind)], "   ")


def _lasted(case: Case, over: Millis | None) -> str:
    begin = case.deadlock.since_ms
    return "" if begin is None or over is None else f"it lasted {running(max(0, over - begin))}"
