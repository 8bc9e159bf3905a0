"""Make members of znodes, and use those of before again where nothing changed."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

import msgspec

from zktop.model.layouts.labels import label_in_name, label_of
from zktop.model.layouts.layout import Layout, Mode
from zktop.model.layouts.sorting import Place
from zktop.model.locks.lock import Lock, Member
from zktop.model.text import Text

Known = Mapping[Text, Member]
NOBODY_KNOWN: Final[Known] = {}


def known_members(previous: Lock | None) -> Known:
    """Give the members of an earlier version by node."""
    if previous is None:
        return NOBODY_KNOWN
    return {member.node: member for line in previous.lines for member in line.members}


def members_of(
    layout: Layout, places: Iterable[Place], known: Known = NOBODY_KNOWN, below: str = ""
) -> list[Member]:
    """Make the members of one family; `below` is where their parent is, seen from the lock."""
    members = [_member(layout, place, known, below) for place in places]
    if is_promoting(layout) and any(member.mode == "read" for member in members):
        return [_promoted(member) for member in members]
    return members


def is_promoting(layout: Layout) -> bool:
    """Tell whether its exclusive locks are the writers as soon as there is a reader."""
    modes = layout.modes.values()
    return "exclusive" in modes and "read" in modes and "write" not in modes


def _member(layout: Layout, place: Place, known: Known, below: str) -> Member:
    znode, name = place.znode, place.name
    node = Text(below + znode.name) if below else znode.name
    before = known.get(node)
    if before is not None and before.znode is znode and before.layout == layout.name:
        return before if before.mode == _mode(layout, place) else _plain_again(before)
    stat = znode.stat
    return Member(
        node,
        _mode(layout, place),
        name.sequence,
        layout.name,
        _named(layout, place),
        _span(node.rfind(name.id), len(name.id)) if name.id and layout.id_is == "token" else None,
        znode,
        stat is None or stat.owner != 0,
    )


def _named(layout: Layout, place: Place) -> Text | None:
    """Give the label that is in the name, where the data has none."""
    data, said = place.znode.data, label_in_name(layout, place.name)
    return None if said is None or (data and label_of(data, layout.name)) else said


@lru_cache(maxsize=256)
def _span(start: int, length: int) -> slice:
    """Give the same slice for the same place: thousands of names are alike."""
    return slice(start, start + length)


def _mode(layout: Layout, place: Place) -> Mode:
    if layout.name == "zplock":
        return _zplock_mode(place.znode.data)
    if layout.name == "accumulo-fate-lock" and place.name.id is None:
        return "read" if (place.znode.data or b"").startswith(b"READ") else "write"
    return place.name.mode


def _plain_again(member: Member) -> Member:
    """Take back the promotion: the readers may be gone."""
    return msgspec.structs.replace(member, mode="exclusive")


def _promoted(member: Member) -> Member:
    if member.mode != "exclusive":
        return member
    return msgspec.structs.replace(member, mode="write")


def _zplock_mode(data: bytes | None) -> Mode:
    """Read `type`, whose words for a shared lock vary."""
    try:
        said = msgspec.json.decode(data or b"{}", type=dict[str, object]).get("type")
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return "exclusive"
    return "read" if str(said).lower() in ("read", "r", "shared", "share") else "write"
