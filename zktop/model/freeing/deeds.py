"""What `zktop free` can do itself, if the newest report shows that it is safe."""

from typing import Literal

from msgspec import Struct

from zktop.model.facts import Stat, split
from zktop.model.format import several
from zktop.model.freeing.refusals import (
    ask_refusal,
    delete_refusal,
    foreign_blockers,
    unreadable_sentence,
)
from zktop.model.lock_view import LockView
from zktop.model.locks.lock import absolute_path
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.children_of_znode import NO_FAMILY
from zktop.model.world.world import World


class Deed(Struct, frozen=True):
    """Nodes to delete, or whose owners to ask for release, each with the Stat that was read."""

    kind: Literal["delete-node", "ask-to-release"]
    lock: Text
    targets: tuple[tuple[Text, Stat], ...]
    clients: tuple[str, ...] = ()  # the names of the clients to ask

    @property
    def paths(self) -> tuple[Text, ...]:
        return tuple(path for path, _ in self.targets)


def deletion(report: Report, view: LockView, node: str) -> Deed | str:
    """Return the deletion of one node, or a sentence that says why it is refused."""
    lock = view.lock
    path = absolute_path(lock.path, node)
    foreign = (child for child in foreign_blockers(lock) if child.node == node)
    member = lock.member(node) or next(foreign, None)
    if member is None and lock.error is not None:
        return unreadable_sentence(lock.path, lock.error)
    if member is None:
        return _not_in_the_way(report.world, path)
    refusal = delete_refusal(report, lock, member)
    if refusal or member.znode.stat is None:
        return f"{path} is not deleted: {refusal}."
    return Deed("delete-node", lock.path, ((path, member.znode.stat),))


def _not_in_the_way(world: World, path: Text) -> str:
    if world.node(path) is not None:
        return f"{path} blocks no client."
    if world.families.get(split(path)[0], NO_FAMILY).denied:
        return f"zktop cannot tell whether {path} exists: the ACL of its parent forbids listing."
    return f"There is no node {path}."


def request_to_release(report: Report, view: LockView) -> Deed | str:
    """Return a request to all holders that listen for one, or a sentence if none does."""
    lock = view.lock
    reasons: dict[str, str] = {}
    targets: list[tuple[Text, Stat]] = []
    clients: list[str] = []
    for member in lock.holders:
        name = report.client_names.of(member)
        refusal = ask_refusal(view, member)
        if refusal is None and member.znode.stat is not None:
            targets.append((absolute_path(lock.path, member.node), member.znode.stat))
            clients.append(name)
        else:
            reasons[name] = refusal or "zktop may not read its node"
    if not lock.holders and lock.error is not None:
        return unreadable_sentence(lock.path, lock.error)
    if targets:
        return Deed("ask-to-release", lock.path, tuple(targets), tuple(clients))
    refused = [f"{name}: {reason}" for name, reason in reasons.items()]
    return f"No holder of {lock.path} was asked. {several(refused) or 'No client holds it'}."
