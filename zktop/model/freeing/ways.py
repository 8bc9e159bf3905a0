"""One way to free a lock: its commands, its effect, and what the losing client will believe."""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from zktop.model.facts import Session
from zktop.model.format import count, several, span
from zktop.model.freeing.commands_to_copy import (
    ZkCli,
    delete_commands,
    end_session_commands,
    find_command,
)
from zktop.model.report import Report
from zktop.model.session_ids import session_text

WayKind = Literal["ask-to-release", "stop-process", "end-session", "delete-node"]

NEVER: Final = (
    "Never delete the node of a live session: its owner would go on as if it held the lock."
)
_GOES_ON: Final = (
    "its client learns that the session is over when it next reaches a server; until its code "
    "checks that, it goes on as if it held the lock"
)


class WayToFree(Struct, frozen=True, kw_only=True):
    """One way to free a lock.

    `option` has the arguments that make zktop do it; `refusal` says why zktop does not.
    """

    kind: WayKind
    what: str
    commands: tuple[str, ...] = ()
    needs: str | None = None  # what the user must add to the commands
    effect: str
    belief: str  # of the client that loses the lock
    option: tuple[str, ...] | None = None
    refusal: str | None = None


class NodePlace(Struct, frozen=True):
    """A node of a lock, with the version of its data."""

    lock: str
    node: str
    path: str
    version: int


class SessionCost(Struct, frozen=True):
    """The locks that a session has nodes in; these nodes go with the session."""

    holds: tuple[str, ...]
    waits: tuple[str, ...]
    timeout_ms: int | None

    @classmethod
    def of(cls, report: Report, session: Session) -> "SessionCost":
        """Find the session's places in all known locks."""
        holds: list[str] = []
        waits: list[str] = []
        for path in dict.fromkeys(report.locks_of.get(session, ())):
            held = {holder.owner for holder in report.records[path].lock.holders}
            (holds if session in held else waits).append(path)
        return cls(tuple(holds), tuple(waits), report.ensemble.timeout_ms(session))

    @property
    def lost(self) -> str:
        """Say which locks the end of the session releases, and which queues it leaves."""
        held = f"releases {several(self.holds)}" if self.holds else ""
        left = f"leaves the queue of {several(self.waits)}" if self.waits else ""
        return " and ".join(filter(None, (held, left))) or "releases nothing that zktop sees"


def stop_process(
    session: Session, client: str | None, pod: str | None, cost: SessionCost, freed: str
) -> WayToFree:
    """Stop the client's process: the way that leaves no client with a wrong belief."""
    limit = "" if cost.timeout_ms is None else f", {span(cost.timeout_ms)}"
    named = f"session {session_text(session)}"
    at = f" at {client}" if client else "; its address is unknown"
    return WayToFree(
        kind="stop-process",
        what=f"Stop its process ({named}{at}); `kill -9 PID` if it does not react.",
        commands=tuple(filter(None, (find_command(client), pod))),
        effect=f"The process ends and {cost.lost}: at once if it closes its session, else after "
        f"the session timeout{limit}. {freed}",
        belief="nothing: it is gone. Its work stops half-way.",
    )


def wait_for_expiry(session: Session, cost: SessionCost, freed: str) -> WayToFree:
    """Let the session of a disconnected client expire: no server has a JMX bean of it."""
    return WayToFree(
        kind="stop-process",
        what=f"Wait for the end of its session ({session_text(session)}). If its process still "
        "runs, stop it, so that it does not connect again.",
        effect=f"When the session expires, it {cost.lost}. {freed}",
        belief=f"nothing if it is gone; else {_GOES_ON}.",
    )


def can_end_sessions(report: Report) -> bool:
    """Whether all servers are ZooKeeper's own, in Java: only these have JMX beans."""
    return all(server.flavour in (None, "zookeeper") for server in report.ensemble.servers)


def end_session(session: Session, server: str | None, cost: SessionCost, freed: str) -> WayToFree:
    """End the session on its server by JMX: ZooKeeper has no other command for that."""
    where = f"on the host of {server}" if server else "on the host of its server"
    return WayToFree(
        kind="end-session",
        what=f"End its session by JMX, {where} (needs jmxterm; in jconsole: Connections, "
        f"{session_text(session)}, terminateSession).",
        commands=end_session_commands(session),
        effect=f"The session ends and {cost.lost}, at once; its process lives on. {freed}",
        belief=f"{_GOES_ON}.",
    )


def ask_to_release(lock: str, name: str, freed: str, refusal: str | None) -> WayToFree:
    """Ask a Curator client that registered a listener for it to release its lock."""
    return WayToFree(
        kind="ask-to-release",
        what=f"Ask {name} to release it, as Curator's Revoker does.",
        effect=f"The data of its node becomes __REVOKE__. Its client may then release it. {freed}",
        belief="the truth: its own code decides, and releases the lock when it is ready.",
        option=("free", lock, "--revoke", "--yes") if refusal is None else None,
        refusal=refusal,
    )


def delete_node(place: NodePlace, cli: ZkCli, freed: str, refusal: str | None) -> WayToFree:
    """Delete a node that no session owns, unless its data has changed."""
    commands = delete_commands(cli, place.path, place.version)
    return WayToFree(
        kind="delete-node",
        what="Delete the node, if its data still has the same version.",
        commands=commands,
        needs=cli.needs if commands else None,
        effect=freed,
        belief="the process that made the node, if it still runs, is not notified: it goes on as "
        "if it held the lock.",
        option=None if refusal else ("free", place.lock, "--node", place.node, "--yes"),
        refusal=refusal,
    )


def freed_watchers(names: Sequence[str]) -> str:
    """Say which clients wait for a node only by watching it.

    >>> freed_watchers(["bob"]), freed_watchers(["bob", "carol"])
    ('1 client waits for it: bob.', '2 clients wait for it: bob and carol. Any may be next.')
    """
    waits = count(len(names), "client waits", "clients wait")
    order = " Any may be next." if names[1:] else ""
    return f"{waits} for it: {several(names)}.{order}"


def freed_clients(waiting: int, first: str | None) -> str:
    """Say how many clients wait behind a node, and which is first.

    >>> freed_clients(0, None), freed_clients(1, "bob"), freed_clients(3, "bob")
    ('No client waits for it.', '1 client waits behind it: bob.', \
'3 clients wait behind it; bob is first.')
    """
    if not waiting:
        return "No client waits for it."
    verb = count(waiting, "client waits", "clients wait")
    return f"{verb} behind it" + (f": {first}." if waiting == 1 else f"; {first} is first.")
