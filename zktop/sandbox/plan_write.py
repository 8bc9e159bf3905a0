"""Decides whether writes are allowed, and what exactly they change.

The operations of a multi are decided one by one, each against the tree after the earlier ones.
Their changes are applied only if all are allowed, so nothing is ever rolled back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from zktop.sandbox import acl, protocol
from zktop.sandbox.acl import Identity
from zktop.sandbox.protocol import Acl, ErrorCode, Perm, Refused
from zktop.sandbox.tree import SPECIAL, Lifetime, SandboxTree, StoredNode, int32

LONGEST_TTL_MS = 0xFF_FFFF_FFFF


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """The parts of a znode that later decisions depend on."""

    acl: tuple[Acl, ...]
    owner: int
    version: int
    cversion: int
    aversion: int
    children: int

    @classmethod
    def of(cls, node: StoredNode) -> "NodeSummary":
        owner, children = node.lifetime.owner, len(node.children)
        return cls(node.acl, owner, node.version, node.cversion, node.aversion, children)


class Created(NamedTuple):
    """A znode will be created, and its parent will have this cversion."""

    path: str
    data: bytes | None
    acl: tuple[Acl, ...]
    lifetime: Lifetime
    cversion: int


class Deleted(NamedTuple):
    """A znode will be deleted, by a client or at the end of its session."""

    path: str
    by_request: bool = True


class Written(NamedTuple):
    """A znode will have new data."""

    path: str
    data: bytes | None
    version: int


class Secured(NamedTuple):
    """A znode will have a new access list."""

    path: str
    acl: tuple[Acl, ...]
    aversion: int


class Checked(NamedTuple):
    """Nothing will change: only the version was checked."""

    path: str


Change = Created | Deleted | Written | Secured | Checked


class WritePlan:
    """The tree after the changes decided so far, with the permissions of one client."""

    def __init__(self, tree: SandboxTree, identities: Sequence[Identity]) -> None:
        self._tree = tree
        self._identities = identities
        self._summaries: dict[str, NodeSummary | None] = {}

    def create(
        self,
        path: str,
        data: bytes | None,
        lines: Sequence[Acl],
        lifetime: Lifetime,
        *,
        sequential: bool,
    ) -> Created:
        """Plan a create. A sequential name ends with the parent's number of creates."""
        parent_path, _ = protocol.split(path)
        new_lines = acl.expand(lines, self._identities)
        parent = self._summary(parent_path)
        acl.check(parent.acl, Perm.CREATE, self._identities)
        path = f"{path}{parent.cversion:010d}" if sequential else path
        protocol.validate(path)
        if self._exists(path):
            raise Refused(ErrorCode.NODE_EXISTS)
        if parent.owner:
            raise Refused(ErrorCode.NO_CHILDREN_FOR_EPHEMERALS)
        cversion = int32(parent.cversion + 1)
        self._summaries[parent_path] = replace(
            parent, cversion=cversion, children=parent.children + 1
        )
        self._summaries[path] = NodeSummary(new_lines, lifetime.owner, 0, 0, 0, 0)
        return Created(path, data, new_lines, lifetime, cversion)

    def delete(self, path: str, version: int) -> Deleted:
        """Plan a delete, but refuse a wrong version and a znode with children."""
        parent_path, _ = protocol.split(path)
        if path in SPECIAL:
            raise Refused(ErrorCode.BAD_ARGUMENTS)
        parent = self._summary(parent_path)
        acl.check(parent.acl, Perm.DELETE, self._identities)
        node = self._summary(path)
        _next(node.version, version)
        if node.children:
            raise Refused(ErrorCode.NOT_EMPTY)
        self._summaries[parent_path] = replace(parent, children=parent.children - 1)
        self._summaries[path] = None
        return Deleted(path)

    def write(self, path: str, data: bytes | None, version: int) -> Written:
        """Plan new data, but refuse a wrong version."""
        protocol.validate(path)
        node = self._require(path, Perm.WRITE)
        new = _next(node.version, version)
        self._summaries[path] = replace(node, version=new)
        return Written(path, data, new)

    def secure(self, path: str, lines: Sequence[Acl], version: int) -> Secured:
        """Plan a new access list, but refuse a wrong version of the list."""
        protocol.validate(path)
        new_lines = acl.expand(lines, self._identities)
        node = self._require(path, Perm.ADMIN)
        new = _next(node.aversion, version)
        self._summaries[path] = replace(node, aversion=new, acl=new_lines)
        return Secured(path, new_lines, new)

    def check(self, path: str, version: int) -> Checked:
        """Plan no change, but refuse a wrong version."""
        protocol.validate(path)
        _next(self._require(path, Perm.READ).version, version)
        return Checked(path)

    def _require(self, path: str, perm: Perm) -> NodeSummary:
        summary = self._summary(path)
        acl.check(summary.acl, perm, self._identities)
        return summary

    def _exists(self, path: str) -> bool:
        if path in self._summaries:
            return self._summaries[path] is not None
        return path in self._tree

    def _summary(self, path: str) -> NodeSummary:
        if path not in self._summaries:
            return NodeSummary.of(self._tree.node(path))
        summary = self._summaries[path]
        if summary is None:
            raise Refused(ErrorCode.NO_NODE)
        return summary


def _next(current: int, expected: int) -> int:
    """Return the next version. Refuse unless the current one is as expected. -1 accepts any."""
    if expected not in (-1, current):
        raise Refused(ErrorCode.BAD_VERSION)
    return int32(current + 1)
