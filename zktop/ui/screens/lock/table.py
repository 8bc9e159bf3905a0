"""The table of one lock's queue: its columns, and the cells of a row."""

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from itertools import islice
from typing import Final

from zktop.model.facts import Session, last_name
from zktop.model.format import fold_name, several, short, spoken
from zktop.model.layouts.layout import MODE_LETTERS
from zktop.model.lock_view import Contender
from zktop.model.waits.deadlock import Deadlock
from zktop.model.world.tables_of_all_servers import Ensemble
from zktop.ui.inks import Ink
from zktop.ui.screens.common.arrows import LANE, margin
from zktop.ui.screens.common.lock_status import deadlock_name, ink_of, ink_of_deadlock
from zktop.ui.screens.common.numbers_and_times import age, elapsed, with_spaces
from zktop.ui.screens.lock.queue_summary import position_ranges
from zktop.ui.screens.lock.rows import QueueRow, index_of
from zktop.ui.styled_text import DASH, NOTHING, UNKNOWN, Line, Run, joined, line, width_of
from zktop.ui.widgets.panel import Panel
from zktop.ui.widgets.table import Column, RowGroup, Table, fitting

CHILDREN: Final = line(("children?", "unknown"))
REPORTED_CHILDREN: Final = line(("→ ", "good"), "children")
STRANDED: Final = line(("stranded", "warning"))
MAX_ARROW_ROWS: Final = 100  # a longer list has numbers instead of arrows
MAX_LANES: Final = 4
WATCHES_CELLS: Final = 13
ARROW: Final[Ink] = "key"
MAX_NAMES_COUNTED: Final = 200  # in a group of members
VERDICT_CELLS: Final[dict[str, Line]] = {
    "none-needed": DASH,
    "unknown": UNKNOWN,
    "invisible": line(("invisible", "unknown")),
    "missing": line(("NONE", "critical")),
}
STATES: Final[dict[str, tuple[str, Ink]]] = {
    "holds": ("HOLDS", "holds"),
    "waits": ("waits", "waits"),
    "standby": ("standby", "standby"),
    "pending": ("pending", "dim"),
}


def gutter(row: QueueRow, blocking: Collection[int]) -> Run:
    """Mark holders, runs of readers, and the rows that block the selected one."""
    if any(row.place <= place < row.place + row.size for place in blocking):
        return Run("▶", "selected")
    queue = row.detail.queue
    if row.place < queue.holder_count:
        return Run("●", "holds")
    if row.is_group or row.member is None or row.member.mode != "read":
        return Run("│", "dim")
    before, after = (_reads(row, place) for place in (row.place - 1, row.place + 1))
    if before == after:
        return Run("│", "dim")
    return Run("└" if before else "┌", "dim")


def _reads(row: QueueRow, place: int) -> bool:
    """Return whether the member at this position also waits to read."""
    queue = row.detail.queue
    is_there = queue.holder_count <= place < len(queue.members)
    return is_there and queue.members[place].mode == "read"


def position(row: QueueRow) -> Line:
    """POS: the position. A group shows a range with a plus."""
    if row.is_group:
        return line((f"+{row.place}-{row.place + row.size - 1}", "key"))
    if row.member is None:
        return DASH
    return line(
        (str(row.place), "strong" if row.place < row.detail.queue.holder_count else "plain")
    )


def sequence(row: QueueRow) -> Line:
    """SEQ: the sequence number of the znode."""
    if row.is_group:
        return ()
    number = row.member.sequence if row.member else None
    return DASH if number is None else line((f"{number:010d}", "dim"))


def mode(row: QueueRow) -> Line:
    """M: the letter of the mode. A session that only watches has none."""
    letters = {MODE_LETTERS[member.mode] for member in row.members}
    if not letters:
        return DASH
    return line((letters.pop() if len(letters) == 1 else "*", "strong"))


def identity(row: QueueRow) -> Line:
    """IDENTITY: the client. A group shows its most frequent names."""
    if row.is_group:
        return _classes(row)
    return client_line(row.contender)


def client_line(client: Contender) -> Line:
    """Return the unique name of a contender."""
    if client.session is None and not client.owner:
        return line((client.name, "warning" if client.is_ownerless else "unknown"))
    if client.ours:
        return line((client.name, "ours"), (" (demo)", "ours"))
    return line((client.name, "plain" if client.owner else "dim"))


def _classes(row: QueueRow) -> Line:
    naming = row.detail.report.owner_name
    labels = (
        naming(member.owner, member.label) for member in islice(row.members, MAX_NAMES_COUNTED)
    )
    named = [label for label in labels if label]
    classes = Counter(map(fold_name, named)).most_common(2)
    text = " ".join(f"{name} {number}" for name, number in classes)
    rest = row.size - sum(number for _, number in classes)
    more = f" +{with_spaces(rest)}" if rest and classes else ""
    modes = Counter(MODE_LETTERS[member.mode] for member in row.members).most_common()
    wanted = " ".join(f"{letter} {number}" for letter, number in modes) if len(modes) > 1 else ""
    return line((f"{with_spaces(row.size)}  ", "strong"), wanted, (f" {text}{more}", "dim"))


def session(row: QueueRow) -> Line:
    """SESSION: the end of the id, or the whole id if another ends the same."""
    if row.is_group or row.session is None:
        return () if row.is_group else DASH
    return line((row.detail.queue.short_ids.of(row.session), "dim"))


def client(row: QueueRow) -> Line:
    """CLIENT: the address of the client, and its server if there are several."""
    if row.is_group or row.session is None:
        return ()
    address = client_address(row.detail.report.ensemble, row.session)
    return line((address, "dim")) if address else UNKNOWN


def client_address(ensemble: Ensemble, session: Session) -> str:
    """Return the address of a client, with its server if there are several; empty if unknown."""
    presence = ensemble.presence(session)
    if presence is None:
        return ""
    server = _without_default_port(presence.server)
    return f"{presence.client}@{server}" if ensemble.has_several_servers else presence.client


def _without_default_port(server: str) -> str:
    """Return a server without the default port.

    >>> _without_default_port("zk2:2181"), _without_default_port("10.0.0.1:2184")
    ('zk2', '10.0.0.1:2184')
    """
    return server.removesuffix(":2181")


def age_of(row: QueueRow) -> Line:
    """AGE: how long the client has held or waited. A group shows that of its first member."""
    detail = row.detail
    now = detail.report.now
    if row.is_group:
        started = row.member.ctime if row.member else None
        return UNKNOWN if started is None else line(f"{elapsed(now - started)}")
    client = row.contender
    text = age(client.since, client.since_is, now, is_ascii=detail.is_ascii)
    return UNKNOWN if text == "?" else line(text)


def blocked_by(row: QueueRow) -> Line:
    """BLOCKED BY: the positions of the holders and of the requests ahead, or their number."""
    if row.is_group and any(member.mode != "read" for member in row.members):
        return ()  # each of them waits for another one
    client, queue = row.contender, row.detail.queue
    if client.stranded:
        return STRANDED
    if not client.blocked_by:
        return DASH
    places = queue.places_of(client.blocked_by)
    holding = position_ranges(place for place in places if place < queue.holder_count)
    queued = [place for place in places if place >= queue.holder_count]
    foreign = [child.node for child in queue.lock.obstacles if child.node in client.blocked_by]
    outside = len(client.blocked_by) - len(places) - len(foreign)
    unnamed = client.ahead - len(client.blocked_by)
    ahead = (
        f"{with_spaces(len(queued) + unnamed)} requests" if unnamed else position_ranges(queued)
    )
    pieces = [
        line((holding, "holds")) if holding else NOTHING,
        line(("ahead ", "dim"), ahead) if ahead else NOTHING,
        line((several(map(short, foreign)), "critical")) if foreign else NOTHING,
        line((f"{outside} elsewhere", "unknown")) if outside else NOTHING,
    ]
    return joined(pieces, " · ")


def watches(row: QueueRow) -> Line:
    """WATCHES: what the servers' tables list for the client, and whether that will wake it."""
    if row.is_group:
        return ()
    if row.watches_children:
        return REPORTED_CHILDREN
    client = row.contender
    if may_watch_children(row):
        return CHILDREN
    if client.verdict in VERDICT_CELLS:
        return VERDICT_CELLS[client.verdict]
    expected = {watched.path for watched in client.expected}
    actual = client.actual or ()
    if client.verdict == "confirmed":
        met = next((path for path in actual if path in expected), None)
        return line(("→ ", "good"), target(row, met) if met else "?")
    astray = next((path for path in actual if path not in expected), None)
    text = target(row, astray) if astray else "?"
    return line((f"→ {text} elsewhere", "warning"))


def target(row: QueueRow, path: str) -> str:
    """Return the position of a watched node, else its name."""
    member = row.detail.view.watch_check.member_at(path)
    if member is not None and (at := row.detail.queue.position.get(member.node)) is not None:
        return str(at)
    return "the lock" if path == row.detail.path else short(last_name(path))


def state(row: QueueRow) -> Line:
    """STATE: holds or waits, in or behind a deadlock, and the worst finding."""
    member = row.member
    if row.is_group:
        deadlock = row.detail.ring_before(row.place)
        return _behind(deadlock) if deadlock else line(("enter unfolds", "dim"))
    word, ink = STATES[row.contender.state]
    if row.contender.stranded:
        word, ink = "stranded", "warning"
    if row.detail.view.lock.kind == "election" and word == "HOLDS":
        word = "LEADS"
    if member is None:
        return line((word, ink), ("  only watches", "dim"))
    return (Run(word, ink), *_trouble(row, word))


def _trouble(row: QueueRow, word: str) -> Line:
    member = row.member
    deadlock = row.detail.ring_of(member) if member else None
    if deadlock is not None:
        also = " + waits" if word in ("HOLDS", "LEADS") else ""
        return line((also, "waits"), (f"  {deadlock_name(deadlock)}", ink_of_deadlock(deadlock)))
    finding = row.detail.marks.get(member.node) if member else None
    if finding is not None:
        return line((f"  {finding.words}", ink_of(finding)))
    behind = row.detail.ring_before(row.place) if word == "waits" else None
    return line("  ", *_behind(behind)) if behind else ()


def _behind(deadlock: Deadlock) -> Line:
    return line((f"behind {deadlock_name(deadlock)}", ink_of_deadlock(deadlock)))


def turn_estimate(row: QueueRow) -> str:
    """Return how long until its turn, at the median hold time; empty if that is unknown.

    Only for locks with one holder at a time: readers and leases are granted together.
    """
    lock, usual = row.detail.view.lock, row.detail.view.history.usual_hold
    if usual is None or lock.kind not in ("mutex", "other") or row.detail.rings:
        return ""
    before = row.contender.ahead
    return f"about {spoken(before * usual.median_ms / 1000)} at the median hold" if before else ""


def arrow_rows(rows: Sequence[QueueRow], lanes: int = MAX_LANES) -> dict[str, str]:
    """Return the arrows from waiters to the znodes that they actually watch, by row name.

    A waiter that may watch the children of the lock has a dotted arrow to the holder ahead of it,
    whose release wakes it. The arrow is solid if a demo client reports that watch. Without watch
    tables there are no other arrows. A long list has no arrows at all.
    """
    if not rows or len(rows) > MAX_ARROW_ROWS:
        return {}
    reported = {at for at, row in enumerate(rows) if row.watches_children}
    supposed = {at for at, row in enumerate(rows) if may_watch_children(row)} - reported
    targets = [
        _releasing_rows(row, rows) if at in supposed | reported else _watched_rows(row, rows)
        for at, row in enumerate(rows)
    ]
    if not any(targets):
        return {}
    drawn = margin(targets, lanes, supposed)
    return {row.name: text for row, text in zip(rows, drawn, strict=True)}


def may_watch_children(row: QueueRow) -> bool:
    """Return whether it may watch the lock's children. No server lists such watches."""
    return (
        not row.is_group
        and row.member is not None
        and row.detail.view.watch_check.may_watch_children(row.member)
    )


def _releasing_rows(row: QueueRow, rows: Sequence[QueueRow]) -> list[int]:
    """Return the row of the first holder that a waiter waits for."""
    lock = row.detail.view.lock
    if not lock.has_separate_queues or row.member is None:
        return [0]
    holders = (member.node for member in lock.queue_of(row.member).holders)
    places = row.detail.queue.places_of(holders)[:1]
    return [at for place in places if (at := index_of(rows, place)) is not None]


def _watched_rows(row: QueueRow, rows: Sequence[QueueRow]) -> list[int]:
    """Return the rows of the nodes that a client watches. A group has no such rows."""
    if row.is_group:
        return []
    detail = row.detail
    if row.member is None:  # a session known by its watches on the holders
        watched = [member.node for member in detail.view.lock.holders]
    else:
        paths = detail.view.watch_check.of(row.member).actual or ()
        members = (detail.view.watch_check.member_at(path) for path in paths)
        watched = [member.node for member in members if member is not None]
    places = detail.queue.places_of(watched)
    return [at for place in places if (at := index_of(rows, place)) is not None]


COLUMNS: Final = (
    Column[QueueRow]("POS", 7, position, at_right=True),
    Column[QueueRow]("SEQ", 10, sequence, rank=4, cuts_middle=lambda _: True),
    Column[QueueRow]("M", 1, mode),
    Column[QueueRow]("IDENTITY", 13, identity, share=3, cuts_middle=lambda row: not row.is_group),
    Column[QueueRow]("SESSION", 7, session, rank=3, keeps_end=True),
    Column[QueueRow]("CLIENT", 21, client, rank=5, share=1),
    Column[QueueRow]("AGE", 7, age_of, at_right=True),
    Column[QueueRow]("BLOCKED BY", 13, blocked_by, rank=2, share=1),
    Column[QueueRow]("WATCHES", WATCHES_CELLS, watches, rank=1),
    Column[QueueRow]("STATE", 17, state, share=2),
)


class QueueTable(Panel, Table[QueueRow]):
    """The queue in its order. The user cannot sort it."""

    def __init__(self) -> None:
        columns = self._columns_with(WATCHES_CELLS, has_servers=False)
        super().__init__(columns, lambda row: row.name, id="lock-queue", mark=self._gutter)
        self._arrows: dict[str, str] = {}  # keys: the names of rows
        self._blocking: frozenset[int] = frozenset()  # positions that block the selected row

    def show(
        self, rows: Sequence[QueueRow | RowGroup[QueueRow]], note: Sequence[Line] = ()
    ) -> None:
        """Show rows with arrows, and mark those that block the one under the cursor."""
        queue_rows = [row for row in rows if isinstance(row, QueueRow)]
        self._arrows = arrow_rows(queue_rows)
        ensembles = [row.detail.report.ensemble for row in queue_rows[:1]]
        has_servers = any(ensemble.has_several_servers for ensemble in ensembles)
        usual, wide = (
            self._columns_with(cells, has_servers=has_servers)
            for cells in (WATCHES_CELLS, self._watches_cells(queue_rows))
        )
        room = self.room.width - self._margin
        self.use(wide if len(fitting(wide, room)) == len(fitting(usual, room)) else usual)
        super().show(rows, note)
        blocking_before = self._blocking
        self._find_blocking()
        if self._blocking != blocking_before:
            self.repaint()

    def _watches_cells(self, rows: Sequence[QueueRow]) -> int:
        """Return the width of WATCHES: arrows in several lanes leave room for `children?`."""
        cells = max(map(len, self._arrows.values()), default=0)
        if cells > LANE and any(row.watches_children or may_watch_children(row) for row in rows):
            return max(WATCHES_CELLS, cells + 1 + width_of(CHILDREN))
        return WATCHES_CELLS

    def _columns_with(self, cells: int, *, has_servers: bool) -> Sequence[Column[QueueRow]]:
        """Return the columns, with this width of WATCHES."""
        client = "CLIENT@SERVER" if has_servers else "CLIENT"
        return tuple(
            column._replace(draw=self._watches, width=cells)
            if column.name == "WATCHES"
            else column._replace(name=column.name.replace("CLIENT", client))
            for column in COLUMNS
        )

    def moved(self) -> None:
        """Mark the rows that block the one under the cursor."""
        super().moved()
        self._find_blocking()

    def _find_blocking(self) -> None:
        row = self.row
        if row is None or row.is_group:
            self._blocking = frozenset()
        else:
            nodes = row.contender.blocked_by
            self._blocking = frozenset(row.detail.queue.places_of(nodes))

    def _watches(self, row: QueueRow) -> Line:
        """WATCHES: an arrow to the watched row, or words if no arrow is possible."""
        arrow = self._arrows.get(row.name)
        if arrow is None:
            return watches(row)
        verdict = "none-needed" if row.is_group else row.contender.verdict
        if row.watches_children:
            return line((arrow, ARROW), (" children", "dim"))
        if verdict == "confirmed" or (verdict == "none-needed" and arrow):
            return line((arrow, ARROW))
        return joined([line((arrow, ARROW)) if arrow else (), watches(row)], " ")

    def _gutter(self, row: QueueRow) -> Run:
        return gutter(row, self._blocking)

    def _index(self, name: Hashable) -> int | None:
        """Return the row with this name, or the group that includes it."""
        rows = [row for row in self.rows if isinstance(row, QueueRow)]
        place = rows[0].detail.queue.position.get(str(name)) if rows else None
        return None if place is None else index_of(rows, place)
