"""Makes the members of a lock from its znodes, and reuses those whose znode did not change."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from zktop.model.layouts.children_by_layout import ParsedChild
from zktop.model.layouts.layout import Layout, LockMode
from zktop.model.layouts.other_libraries import zplock_mode
from zktop.model.layouts.owner_labels import label_in_name, label_of
from zktop.model.locks.lock import Lock, Member
from zktop.model.text import Text

KnownMembers = Mapping[Text, Member]
NO_KNOWN_MEMBERS: Final[KnownMembers] = {}


def known_members(previous: Lock | None) -> KnownMembers:
    """Return the members of an earlier version by node."""
    if previous is None:
        return NO_KNOWN_MEMBERS
    return {member.node: member for queue in previous.queues for member in queue.members}


def members_of(
    layout: Layout,
    children: Iterable[ParsedChild],
    known: KnownMembers = NO_KNOWN_MEMBERS,
    below: str = "",
) -> list[Member]:
    """Make the members of one layout; `below` is the path of their parent in the lock."""
    members = [_member(layout, child, known, below) for child in children]
    if is_promoting(layout) and any(member.mode == "read" for member in members):
        return [
            msgspec.structs.replace(member, mode="write") if member.mode == "exclusive" else member
            for member in members
        ]
    return members


def is_promoting(layout: Layout) -> bool:
    """Return whether exclusive members count as writers if there are readers."""
    modes = layout.modes.values()
    return "exclusive" in modes and "read" in modes and "write" not in modes


def _member(layout: Layout, child: ParsedChild, known: KnownMembers, below: str) -> Member:
    znode, name = child.znode, child.name
    node = Text(below + znode.name) if below else znode.name
    before = known.get(node)
    if before is not None and before.znode is znode and before.layout == layout.name:
        if before.mode == _mode(layout, child):
            return before
        return msgspec.structs.replace(before, mode="exclusive")  # the readers may be gone
    stat, token_at = znode.stat, None
    if name.id and layout.id_is == "token":
        start = node.rfind(name.id)
        token_at = slice(start, start + len(name.id))
    return Member(
        node,
        _mode(layout, child),
        name.sequence,
        layout.name,
        _label_without_data(layout, child),
        token_at,
        znode,
        stat is None or stat.owner != 0,
    )


def _label_without_data(layout: Layout, child: ParsedChild) -> Text | None:
    """Return the label in the name, if the data has none."""
    data, in_name = child.znode.data, label_in_name(layout, child.name)
    return None if in_name is None or (data and label_of(data, layout.name)) else in_name


def _mode(layout: Layout, child: ParsedChild) -> LockMode:
    if layout.name == "zplock":
        return zplock_mode(child.znode.data)
    if layout.name == "accumulo-fate-lock" and child.name.id is None:
        return "read" if (child.znode.data or b"").startswith(b"READ") else "write"
    return child.name.mode
