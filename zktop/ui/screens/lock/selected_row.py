"""The row under the cursor in full: its node, session and client, and its watch explained."""

from collections.abc import Iterator
from typing import Final

from zktop.model.format import iso, middle, short
from zktop.model.layouts.layout import MODE_LETTERS
from zktop.model.lock_view import Contender
from zktop.model.locks.lock import Member, absolute_path
from zktop.model.session_ids import session_text
from zktop.ui.inks import Ink
from zktop.ui.screens.common.numbers_and_times import with_spaces
from zktop.ui.screens.lock.rows import QueueRow, names_of
from zktop.ui.screens.lock.table import client_line, turn_estimate
from zktop.ui.styled_text import Line, hanging_lines, line, wrapped

MAX_DATA_CHARS: Final = 400
MAX_BLOCKERS: Final = 5
TITLE_CELLS: Final = 15
MAX_GROUP_NAMES: Final = 12
VERDICTS: Final[dict[str, tuple[str, Ink]]] = {
    "confirmed": ("watch OK: notified when that node goes", "good"),
    "elsewhere": ("watches something else: it may miss its turn", "warning"),
    "missing": ("watches no node of this lock: nothing will wake it", "critical"),
    "invisible": (
        "it may watch the lock's children, or poll: no server lists that",
        "unknown",
    ),
    "unknown": (
        "its server's watch table is missing, or too old to decide",
        "unknown",
    ),
    "none-needed": ("no watch needed", "dim"),
}


def selected_lines(row: QueueRow | None, width: int, *, with_data: bool) -> list[Line]:
    """Describe one row: a request, a group of requests, or a session that only watches."""
    if row is None:
        return []
    if row.is_group:
        return _group(row, width)
    client, lines = row.contender, [line(("SELECTED  ", "title"), *_head(row, row.contender))]
    for title, text, ink in _facts(row, client, width - TITLE_CELLS):
        lines += hanging_lines(line((f"  {title:<{TITLE_CELLS - 3}} ", "dim")), text, width, ink)
    if with_data:
        lines += data_lines(row.member, width)
    return lines


def _group(row: QueueRow, width: int) -> list[Line]:
    names = ", ".join(names_of(row, MAX_GROUP_NAMES))
    hidden = row.size - MAX_GROUP_NAMES
    more = f" and {with_spaces(hidden)} more" if hidden > 0 else ""
    head = line(("SELECTED  ", "title"),
                f"{with_spaces(row.size)} requests from position {row.place};  ",
                ("enter", "key"), " unfolds them")  # fmt: skip
    return [head, *wrapped(names + more, width - 2, "dim", "  ")]


def _head(row: QueueRow, client: Contender) -> Line:
    place = f"  at position {row.place}" if row.member else ""
    return (
        *line((f"{MODE_LETTERS[client.mode]} ", "strong")),
        *client_line(client),
        *line((place, "dim")),
    )


def _facts(row: QueueRow, client: Contender, room: int) -> Iterator[tuple[str, str, Ink]]:
    node = "none: only its watch is known"
    if client.node:
        node = fitting(absolute_path(row.detail.path, client.node), room)
    yield "node", node, "plain"
    if row.member is not None and row.member.znode.stat is not None:
        stat = row.member.znode.stat
        yield "created", f"{iso(stat.ctime)}  zxid {stat.czxid:#x}", "plain"
    yield "session", *_session(client)
    yield from _connection(row, client)
    if client.stranded:
        yield (
            "stranded",
            "its client failed and left this node behind; it is deleted when the session ends",
            "warning",
        )
    if client.blocked_by:
        yield "waits for", _before(client, room), "plain"
    if estimate := turn_estimate(row):
        yield "turn", estimate, "dim"
    if row.watches_children:
        yield (
            "watches",
            "the lock's children: this demo client says so; no server lists such a watch",
            "good",
        )
    else:
        yield from _watch(client, room)
    finding = row.detail.marks.get(row.member.node) if row.member else None
    if finding is not None:
        yield "finding", finding.sentence, "warning"


def _session(client: Contender) -> tuple[str, Ink]:
    if client.session is not None:
        return session_text(client.session), "plain"
    return ("none", "plain") if client.is_ownerless else ("unknown", "unknown")


def _connection(row: QueueRow, client: Contender) -> Iterator[tuple[str, str, Ink]]:
    if client.session is None:
        return
    presence = row.detail.report.ensemble.presence(client.session)
    if presence is None:
        czxid = row.member.czxid if row.member is not None else 0
        connected = row.detail.report.ensemble.connected(client.session, czxid)
        text = "no server lists its connection" if connected is False else "not visible"
        yield "client", text, "warning" if connected is False else "unknown"
        return
    timeout = f", timeout {presence.timeout_ms / 1000:.0f}s" if presence.timeout_ms else ""
    yield "client", f"{presence.client} at {presence.server}{timeout}", "plain"


def fitting(path: str, room: int) -> str:
    """Shorten a path that does not fit in one line: first its node name, then its middle.

    >>> fitting("/l/d8e1f0a211114c3b9a550f6b1b8f7a01__lock__1", 80)
    '/l/d8e1f0a211114c3b9a550f6b1b8f7a01__lock__1'
    >>> fitting("/l/d8e1f0a211114c3b9a550f6b1b8f7a01__lock__1", 20)
    '/l/d8e1…__lock__1'
    """
    if len(path) <= room:
        return path
    above, slash, name = path.rpartition("/")
    return middle(f"{above}{slash}{short(name)}", room)


def _before(client: Contender, room: int) -> str:
    listed = client.blocked_by[:MAX_BLOCKERS]
    names = ", ".join(fitting(node, room) for node in listed)
    more = client.ahead - len(listed)
    return f"{names} and {more} more" if more > 0 else names


def _watch(client: Contender, room: int) -> Iterator[tuple[str, str, Ink]]:
    wanted = (f"{fitting(target.path, room)} ({target.how})" for target in client.expected)
    expected = ", ".join(wanted)
    if client.verdict == "none-needed" and not client.actual:
        return
    yield "should watch", expected or "nothing", "plain"
    if client.actual is None:
        yield "watches", "not visible", "unknown"
    else:
        watched = ", ".join(fitting(path, room) for path in client.actual)
        yield "watches", watched or "nothing here", "plain"
    word, ink = VERDICTS[client.verdict]
    yield "result", word, ink


def data_lines(member: Member | None, width: int) -> list[Line]:
    """Return the znode's data, or why it cannot be shown."""
    text, ink = _data(member)
    return [line(("  DATA", "title")), *wrapped(text, width - 4, ink, "    ")]


def _data(member: Member | None) -> tuple[str, Ink]:
    if member is None:
        return "It has no znode here, only a watch.", "unknown"
    znode = member.znode
    if znode.hidden:
        return "The znode's ACL does not allow zktop to read it.", "unknown"
    if znode.data is None:
        return "Not read yet, or left out of the recording.", "unknown"
    if not znode.data:
        return "The znode is empty.", "dim"
    return shown(znode.data), "plain"


def shown(data: bytes) -> str:
    r"""Return data as text without control sequences, truncated after MAX_DATA_CHARS.

    >>> shown(b"worker-a"), shown(bytes([27]) + b"[2J")
    ('worker-a', '\\x1b[2J')
    """
    text = data.decode("utf-8", "backslashreplace")
    clean = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
    more = len(clean) - MAX_DATA_CHARS  # at least: zktop keeps the first 4 kB of large data
    return f"{clean[:MAX_DATA_CHARS]} … and {more} or more characters" if more > 0 else clean
