"""Why `zktop free` refuses to delete a node, or to ask a holder: it is unsafe, or useless."""

from collections.abc import Iterator
from typing import Final

from zktop.model.format import count, span
from zktop.model.freeing.commands_to_copy import is_exact
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.owner_labels import REVOKED
from zktop.model.lock_view import LockView
from zktop.model.locks.lock import Lock, Member, absolute_path
from zktop.model.locks.open_folder import only_mixed
from zktop.model.locks.shapes import layout_named
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.model.text import Text

REVOCABLE_LAYOUTS: Final = ("curator-mutex", "curator-rw", "curator-custom")

ODD_NAME: Final = "its path has characters that zktop cannot show"


def unreadable_sentence(path: str, why: str) -> str:
    """A sentence about a lock whose nodes are unknown."""
    return f"zktop cannot read {path}: {why}."


def delete_refusal(report: Report, lock: Lock, member: Member) -> str | None:
    """Why zktop does not delete this node, or None if deleting it is safe."""
    stat = member.znode.stat
    if stat is None:
        return "its owner is unknown, because zktop may not read it"
    if stat.owner:
        return _owned(report, member)
    if not is_exact(absolute_path(lock.path, member.node)):
        return ODD_NAME
    return _in_use(report, lock, member)


def _owned(report: Report, member: Member) -> str:
    name = report.client_names.of(member)
    session = f"session {session_text(member.owner)}"
    named = session if name == session_text(member.owner) else f"{name}, {session}"
    if report.ensemble.alive(member.owner, member.czxid) is False:
        return (
            f"it belongs to {named}, which no server lists: restart the server that has the node"
        )
    return f"it belongs to {named}, whose client would go on as if it held the lock"


def _in_use(report: Report, lock: Lock, member: Member) -> str | None:
    """Why a client may rely on a node without a session: its children, its layout, its age."""
    if member.znode.stat and (number := member.znode.stat.num_children):
        return f"it has {count(number, 'child', 'children')}"
    if lock.member(member.node) is not None and may_last(report, lock, member):
        return f"clients of {member.layout} hold locks without a session: one may be at work"
    age = report.now - (member.ctime or report.now)
    patience = report.settings.thresholds.orphan
    if age <= patience:
        return (
            f"it is only {span(age)} old: zktop waits for {span(patience)}, as its client may be "
            "at work"
        )
    return None


def may_last(report: Report, lock: Lock, member: Member) -> bool:
    """Whether clients may hold this lock by nodes without a session.

    Clients of semaphores never do, although no warning mentions their leases.
    """
    return (
        lock.kind == "lease"
        or (lock.kind != "semaphore" and "persistent-contender" not in lock.warnings)
        or _lasts(layout_named(member.layout, report.settings.layouts))
    )


def _lasts(layout: Layout | None) -> bool:
    """Whether clients of a layout hold locks by nodes without a session.

    Clients of kazoo do so only on request: a node that blocks others for long is an orphan (B1).
    """
    return layout is not None and layout.persistent and layout.name != "kazoo-lock"


def ask_refusal(view: LockView, member: Member) -> str | None:
    """Why zktop does not ask a holder to release, or None if its client listens for requests.

    Curator creates the nodes of revocable locks with empty data, and watches them. Only the watch
    tables of servers show such a watch.
    """
    if member.layout not in REVOCABLE_LAYOUTS or not member.owner:
        return "only Curator's mutex and read/write lock can be asked"
    if member.znode.data in REVOKED:
        return "it has already been asked, and decides itself when to release"
    stat = member.znode.stat
    if member.znode.data or (stat and stat.data_length):  # zktop may not be allowed to read it
        return "it is not revocable: Curator writes empty data into the nodes of revocable locks"
    path = absolute_path(view.lock.path, member.node)
    return _not_listening(view, member, path) or (None if is_exact(path) else ODD_NAME)


def _not_listening(view: LockView, member: Member, path: Text) -> str | None:
    """Why a client may not notice a request; None if a table shows that it watches its node."""
    ensemble = view.watch_check.ensemble
    watched, table = ensemble.watched(member.owner), ensemble.watch_fact(member.owner)
    if watched is None or table is None:
        return "zktop cannot tell whether it listens: no server shows what its session watches"
    if path in watched:
        return None
    if table.zxid < member.czxid:
        return "zktop cannot tell whether it listens: no table of watches is newer than its node"
    return "it does not listen: its session does not watch its own node"


def foreign_blockers(lock: Lock) -> Iterator[Member]:
    """The children that are not contenders, but block contenders or make them fail."""
    yield from lock.obstacles
    for queue in only_mixed(lock.queues):
        children = (unreadable.child for unreadable in queue.unreadable)
        yield from (child for child in children if lock.member(child.node) is None)
