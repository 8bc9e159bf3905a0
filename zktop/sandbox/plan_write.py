"""Decides whether writes may happen, and what exactly they will change.

The operations of one multi are decided one after the other on a draft: the tree as it will be.
Only when all are allowed are their changes applied, so there is nothing to roll back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from zktop.sandbox import acl
from zktop.sandbox import protocol as paths
from zktop.sandbox.acl import Identity
from zktop.sandbox.protocol import Acl, ErrorCode, Perm, Refused
from zktop.sandbox.tree import SPECIAL, Lifetime, StoredNode, ZnodeTree, int32

LONGEST_TTL_MS = 0xFF_FFFF_FFFF


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """What later decisions need to know of a znode."""

    acl: tuple[Acl, ...]
    owner: int
    version: int
    cversion: int
    aversion: int
    children: int

    @classmethod
    def of(cls, node: StoredNode) -> "NodeSummary":
        """Sketch a znode as it is stored."""
        owner, children = node.lifetime.owner, len(node.children)
        return cls(node.acl, owner, node.version, node.cversion, node.aversion, children)


class Created(NamedTuple):
    """A znode will be there, and its parent will count this many creates."""

    path: str
    data: bytes | None
    acl: tuple[Acl, ...]
    lifetime: Lifetime
    cversion: int


class Deleted(NamedTuple):
    """A znode will be gone, because a client wants it or because its session is over."""

    path: str
    by_request: bool = True


class Written(NamedTuple):
    """A znode will hold other data."""

    path: str
    data: bytes | None
    version: int


class Secured(NamedTuple):
    """A znode will have another access list."""

    path: str
    acl: tuple[Acl, ...]
    aversion: int


class Checked(NamedTuple):
    """Nothing will change; the version was the expected one."""

    path: str


Change = Created | Deleted | Written | Secured | Checked


class PlannedCreate(NamedTuple):
    """A create as asked for, before the sequence number is known."""

    path: str
    data: bytes | None
    acl: Sequence[Acl]
    lifetime: Lifetime
    sequential: bool


class WritePlan:
    """The tree as it will be after the changes decided so far, seen by one client."""

    def __init__(self, tree: ZnodeTree, who: Sequence[Identity]) -> None:
        """Start with the tree as it is."""
        self._tree = tree
        self._who = who
        self._sketches: dict[str, NodeSummary | None] = {}

    def create(self, wanted: PlannedCreate) -> Created:
        """Add a znode; a sequential name ends in the parent's number of creates."""
        parent_path, _ = paths.split(wanted.path)
        lines = acl.expand(wanted.acl, self._who)
        parent = self._sketch(parent_path)
        acl.check(parent.acl, Perm.CREATE, self._who)
        path = f"{wanted.path}{parent.cversion:010d}" if wanted.sequential else wanted.path
        paths.validate(path)
        if self._exists(path):
            raise Refused(ErrorCode.NODE_EXISTS)
        if parent.owner:
            raise Refused(ErrorCode.NO_CHILDREN_FOR_EPHEMERALS)
        cversion = int32(parent.cversion + 1)
        self._sketches[parent_path] = replace(
            parent, cversion=cversion, children=parent.children + 1
        )
        self._sketches[path] = NodeSummary(lines, wanted.lifetime.owner, 0, 0, 0, 0)
        return Created(path, wanted.data, lines, wanted.lifetime, cversion)

    def delete(self, path: str, version: int) -> Deleted:
        """Remove a znode, if it is the expected version and has no children."""
        parent_path, _ = paths.split(path)
        if path in SPECIAL:
            raise Refused(ErrorCode.BAD_ARGUMENTS)
        parent = self._sketch(parent_path)
        acl.check(parent.acl, Perm.DELETE, self._who)
        node = self._sketch(path)
        _next(node.version, version)
        if node.children:
            raise Refused(ErrorCode.NOT_EMPTY)
        self._sketches[parent_path] = replace(parent, children=parent.children - 1)
        self._sketches[path] = None
        return Deleted(path)

    def write(self, path: str, data: bytes | None, version: int) -> Written:
        """Replace the data, if it is the expected version."""
        paths.validate(path)
        node = self._allowed(path, Perm.WRITE)
        new = _next(node.version, version)
        self._sketches[path] = replace(node, version=new)
        return Written(path, data, new)

    def secure(self, path: str, lines: Sequence[Acl], version: int) -> Secured:
        """Replace the access list, if it is the expected version of the list."""
        paths.validate(path)
        new_lines = acl.expand(lines, self._who)
        node = self._allowed(path, Perm.ADMIN)
        new = _next(node.aversion, version)
        self._sketches[path] = replace(node, aversion=new, acl=new_lines)
        return Secured(path, new_lines, new)

    def check(self, path: str, version: int) -> Checked:
        """Change nothing, if it is the expected version."""
        paths.validate(path)
        _next(self._allowed(path, Perm.READ).version, version)
        return Checked(path)

    def _allowed(self, path: str, perm: Perm) -> NodeSummary:
        sketch = self._sketch(path)
        acl.check(sketch.acl, perm, self._who)
        return sketch

    def _exists(self, path: str) -> bool:
        if path in self._sketches:
            return self._sketches[path] is not None
        return path in self._tree

    def _sketch(self, path: str) -> NodeSummary:
        if path not in self._sketches:
            return NodeSummary.of(self._tree.node(path))
        sketch = self._sketches[path]
        if sketch is None:
            raise Refused(ErrorCode.NO_NODE)
        return sketch


def _next(current: int, expected: int) -> int:
    """Give the version after this one, if it was the expected one; -1 expects any."""
    if expected not in (-1, current):
        raise Refused(ErrorCode.BAD_VERSION)
    return int32(current + 1)
