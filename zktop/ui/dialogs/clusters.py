"""Choose a cluster: a line for each, with its state and its worst known finding."""

from typing import Final

from zktop.model.format import clock, count
from zktop.ui.dialogs.choice import ChoiceDialog, Choosable, option_line
from zktop.ui.screens.locks.alerts import Alert, alerts
from zktop.ui.shell import Shell
from zktop.ui.styled_text import Line, Run, fitted, joined, line
from zktop.ui.visit import Visit
from zktop.ui.widgets.header import STATUS_WORDS

REFRESH_S: Final = 1.0
STATE_CELLS: Final = 14  # as wide as NO CONNECTION
LOCK_CELLS: Final = 12


class ClusterDialog(ChoiceDialog):
    """Returns the name of a cluster. Its lines are refreshed every second."""

    DEFAULT_CSS = """
    ClusterDialog Box { max-width: 120; }
    """

    def __init__(self, app: Shell) -> None:
        self._shell = app
        super().__init__("Clusters", self._clusters(), app.visit.name)

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(REFRESH_S, lambda: self.replace_options(self._clusters()))

    def _clusters(self) -> list[Choosable]:
        clusters, visits = self._shell.clusters, self._shell.visits
        hosts_by_name = clusters.hosts if clusters is not None else dict.fromkeys(visits, "")
        return [
            Choosable(name, hosts, about(hosts, visits.get(name)))
            for name, hosts in hosts_by_name.items()
        ]

    def line_of(self, option: Choosable) -> Line:
        visit = self._shell.visits.get(option.name)
        mark = Run("▸ " if visit is self._shell.visit else "  ", "key")
        name = option_line(option._replace(title=""))
        state = fitted(state_of(visit), STATE_CELLS)
        rest = line((f"  {option.title}", "dim")) if visit is None else locks_and_worst(visit)
        return (mark, *name, *state, *rest)


def state_of(visit: Visit | None) -> Line:
    """Draw the state of the connection to a cluster."""
    if visit is None:
        return line(("not visited", "dim"))
    word, ink = STATUS_WORDS[visit.status.word]
    return line((word, ink))


def locks_and_worst(visit: Visit) -> Line:
    """Draw how many locks a cluster has, and its worst problem."""
    frame = visit.tape.last
    if frame is None:
        return ()
    locks = count(len(frame.report.paths), "lock")
    pieces = [line((f"{locks:>{LOCK_CELLS}}", "dim")), _worst_line(worst_alert(visit))]
    if visit.status.word != "live":
        pieces.append(line((f"at {clock(frame.at)}", "dim")))
    return joined(pieces)


def _worst_line(worst: Alert | None) -> Line:
    if worst is None:
        return line(("no problems", "good"))
    is_critical = worst.severity == "critical" and worst.is_sure
    title = worst.title.upper() + ("" if worst.is_sure else "?")
    return line((f" {title} ", "alarm" if is_critical else "caution"), f" {worst.where}")


def worst_alert(visit: Visit) -> Alert | None:
    """Return the worst alert that is not acknowledged; None if there are only notes."""
    frame = visit.tape.last
    if frame is None:
        return None
    acknowledged = visit.acknowledged.covered(frame.report)
    worst = next((alert for alert in alerts(frame.report) if alert.case not in acknowledged), None)
    return None if worst is None or worst.severity == "info" else worst


def about(hosts: str, visit: Visit | None) -> tuple[str, ...]:
    """Describe a cluster below the list: its hosts, its connection, and its worst problem."""
    if visit is None:
        return (hosts, "Enter connects. zktop then stays connected until you quit.")
    worst = worst_alert(visit)
    return (hosts, visit.status.says, worst.sentence if worst is not None else "")
