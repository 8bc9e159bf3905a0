"""Which address and users each session has, according to the audit logs of all members.

Their lines have no zxid, and local times without a zone. So if a session changed its address, the
first line with the new one is matched with a transaction of this session, operation and path.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from zktop.model.facts import Session
from zktop.txnlog.audit_lines import AuditedChange, AuditedClient, AuditLine, audit_lines
from zktop.txnlog.data_files import DataFile, open_unpacked
from zktop.txnlog.transactions import Create, Delete, Operation, SetAcl, SetData, Transaction

_OPERATIONS: Final[dict[type[Operation], str]] = {
    Create: "create",
    Delete: "delete",
    SetData: "setData",
    SetAcl: "setAcl",
}


class _Stay(msgspec.Struct):
    """A session at one address: since when, and what it changed from there."""

    client: AuditedClient
    time: bytes
    changes: set[AuditedChange]


class AuditLog:
    """A fold over transactions; `clients` has each session's address at this moment."""

    def __init__(self, files: Sequence[DataFile]) -> None:
        """Read the audit logs of all members."""
        stays: dict[Session, list[_Stay]] = {}
        for file in files:
            with open_unpacked(file) as stream:
                _add(stays, audit_lines(stream))
        for of_session in stays.values():
            of_session.sort(key=lambda stay: stay.time)
        self.clients = {session: first.client for session, (first, *_) in stays.items()}
        self._later = {session: rest for session, (_, *rest) in stays.items() if rest}

    def moves(self, transaction: Transaction) -> bool:
        """Whether a session has another address or other users from this transaction on."""
        later = self._later.get(transaction.session)
        if not later:
            return False
        changes = {(_OPERATIONS.get(type(one)), _path(one)) for one in transaction.operations}
        if changes.isdisjoint(later[0].changes):
            return False
        self.clients[transaction.session] = later.pop(0).client
        return True


def _add(stays: dict[Session, list[_Stay]], lines: Iterable[AuditLine]) -> None:
    for line in lines:
        known = stays.setdefault(line.session, [])
        if not known or known[-1].client != line.client:
            known.append(_Stay(line.client, line.time, set()))
        if len(known) > 1:  # the first address counts from the beginning
            known[-1].changes.add(line.change)


def _path(operation: Operation) -> str:
    return operation.path if isinstance(operation, Create | Delete | SetData | SetAcl) else ""
