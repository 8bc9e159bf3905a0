"""Who made others wait in part of the past, and the sessions that expired then."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeVar

from zktop.model.accounting.accounts import Accounts, ActorAccount, Charge, LockAccount
from zktop.model.accounting.ledger import Ledger
from zktop.model.facts import Millis
from zktop.model.format import count, session_name, several, span
from zktop.model.history.expired_sessions import ExpiredSession, FreedLock
from zktop.model.report import Report
from zktop.ui.dialogs.base import TextDialog
from zktop.ui.inks import Ink
from zktop.ui.screens.common.numbers_and_times import time_ms
from zktop.ui.styled_text import Line, fitted, hanging_lines, joined, line, right_aligned, wrapped

MAX_ROWS: Final = 20
COST_CELLS: Final = 14
TIME_CELLS: Final = 9
LAST_CELLS: Final = 12
FIGURE_CELLS: Final = COST_CELLS + TIME_CELLS + LAST_CELLS + 4
LEAST_NAME_CELLS: Final = 15
Row = Sequence[tuple[str, Ink]]
Account = TypeVar("Account", ActorAccount, LockAccount)


def accounts_of(reports: Iterable[Report], since: Millis, until: Millis) -> Accounts:
    """Sum up a period. The first report is the one in effect when the period begins."""
    ledger = Ledger(since)
    for report in reports:
        if report.now > until:
            break
        ledger.look(report)
    return ledger.accounts(until)


class AccountsDialog(TextDialog):
    """Shows the accounts of a period, the most costly first."""

    def __init__(
        self, accounts: Accounts, expired: Sequence[ExpiredSession], *, is_packed: bool
    ) -> None:
        """Show these accounts. `is_packed`: part of the period is kept only once a second."""
        begin, end = time_ms(accounts.since), time_ms(accounts.until)
        super().__init__(f"Who made others wait: {begin} to {end}Z", "esc close")
        self._accounts, self._is_packed = accounts, is_packed
        self._expired = [
            session for session in expired if accounts.since <= session.at <= accounts.until
        ]

    def lines(self, width: int) -> list[Line]:
        accounts = account_lines(self._accounts, width, is_packed=self._is_packed)
        return [*accounts, *expiry_lines(self._expired, width)]


def account_lines(accounts: Accounts, width: int, *, is_packed: bool) -> Iterator[Line]:
    yield from wrapped(_summary(accounts, is_packed=is_packed), width, "dim")
    if not accounts.blocked_ms:
        return
    names = {actor.actor: actor.name for actor in accounts.actors}
    clients = [actor for actor in accounts.actors if actor.charge.at_most_ms or actor.waited_ms]
    locks = [lock for lock in accounts.locks if lock.blocked_ms]
    classes = [lock_class for lock_class in accounts.classes if lock_class.blocked_ms]
    head = ("CLIENT", "BLOCKED OTHERS", "ITSELF", "WAITED", "WORST LOCK")
    yield from _table(head, clients, _client_row, width)
    head = ("LOCK", "CLIENTS WAITED", "", "FAILED WAITS", "MOSTLY FOR")
    lock_row = partial(_lock_row, names)
    yield from _table(head, locks, lock_row, width)
    if any(lock_class.locks > 1 for lock_class in classes):
        head = ("CLASS OF LOCKS", "CLIENTS WAITED", "LOCKS", "FAILED WAITS", "MOSTLY FOR")
        yield from _table(head, classes, lock_row, width)


def expiry_lines(expired: Sequence[ExpiredSession], width: int) -> Iterator[Line]:
    """Draw the sessions that expired, the locks that this freed, and which clients got them."""
    if expired:
        yield ()
        yield line((count(len(expired), "session") + " expired", "title"))
    for session in reversed(expired[-MAX_ROWS:]):
        name = session.owner or session.client or session_name(session.session)
        client = f" {session.client}" if session.client and session.client != name else ""
        yield line((time_ms(session.at), "dim"), (f"  {name}", "strong"), (client, "dim"))
        for freed in session.freed:
            yield from hanging_lines(line("  freed "), f"{freed.lock}: {_next(freed)}", width)
        if session.left:
            yield from hanging_lines(line("  left the queue of "), several(session.left), width)
    if len(expired) > MAX_ROWS:
        yield line((f"and {len(expired) - MAX_ROWS} earlier ones", "dim"))


def _next(freed: FreedLock) -> str:
    if freed.after_ms is None:
        return "not acquired yet"
    session = freed.next_session
    name = freed.next or (session_name(session) if session else "an unknown client")
    return f"{name} got it {span(freed.after_ms)} later"


def _summary(accounts: Accounts, *, is_packed: bool) -> str:
    length = span(accounts.until - accounts.since)
    if not accounts.blocked_ms:
        text = f"No client was seen waiting for a lock in these {length}."
    else:
        text = (
            f"In these {length} clients waited {span(accounts.blocked_ms)} in all. A "
            "client blocks others while it holds a lock that they wait for; ITSELF is the part of "
            "that time in which it waited for a lock itself, whose holder is the cause."
        )
    if is_packed:
        text += " Of older moments, only one per second is kept, so short waits are missing."
    if accounts.unseen_ms:
        text += f" Nothing is known of {span(accounts.unseen_ms)} without a connection."
    if accounts.deadlocks:
        text += f" There {'was' if accounts.deadlocks == 1 else 'were'} "
        text += f"{count(accounts.deadlocks, 'deadlock')}, confirmed or likely."
    return text


def _table(
    head: Sequence[str], accounts: Sequence[Account], row: Callable[[Account], Row], width: int
) -> Iterator[Line]:
    """Yield a heading and the first rows. Names share the width that the figures leave."""
    yield ()
    yield _cells([(text, "dim") for text in head], width)
    for account in accounts[:MAX_ROWS]:
        yield _cells(row(account), width)
    if len(accounts) > MAX_ROWS:
        yield line((f"and {len(accounts) - MAX_ROWS} more", "dim"))


def _cells(row: Row, width: int) -> Line:
    figure_cells, room = (COST_CELLS, TIME_CELLS, LAST_CELLS), width - FIGURE_CELLS
    name, *figures, last = row
    last_cells = room // 2 if room >= 2 * LEAST_NAME_CELLS else 0  # none in a narrow window
    drawn = [fitted(line(name), room - last_cells)]
    drawn += [
        right_aligned(line(figure), cells)
        for figure, cells in zip(figures, figure_cells, strict=True)
    ]
    return joined([*drawn, fitted(line(last), last_cells)], " ")


def _client_row(account: ActorAccount) -> Row:
    has_address = account.client and account.client != account.name
    return (
        (f"{account.name} {account.client}" if has_address else account.name, "strong"),
        (_cost(account.charge), "warning"),
        (_time(account.charge.itself_ms), "plain"),
        (_time(account.waited_ms), "waits"),
        (account.worst_lock or "", "plain"),
    )


def _lock_row(names: Mapping[str, str], account: LockAccount) -> Row:
    most = [f"{names.get(actor, actor)} {_cost(charge)}" for actor, charge in account.charged[:1]]
    return (
        (account.path, "strong"),
        (_time(account.blocked_ms), "warning"),
        (str(account.locks) if account.locks > 1 else "", "plain"),
        (str(account.figures.given_up or ""), "plain"),
        ("".join(most), "plain"),
    )


def _cost(charge: Charge) -> str:
    """Return the time that others waited; two bounds if several clients held the lock together."""
    if not charge.shared_ms:
        return _time(charge.alone_ms)
    least = f"{span(charge.alone_ms)}.." if charge.alone_ms else "≤"
    return f"{least}{span(charge.at_most_ms)}"


def _time(ms: Millis) -> str:
    return span(ms) if ms else ""
