"""Decides which of two tables of a server is newer, and keeps the newest table of each kind."""

import msgspec

from zktop.model.facts import AnyFact, Connections, Expiry, Server, ServerFact, Watches


class TableFacts(msgspec.Struct, frozen=True):
    """The newest table of each kind of one ensemble member; None if it was not read yet."""

    server: Server | None = None
    connections: Connections | None = None
    watches: Watches | None = None
    expiry: Expiry | None = None

    def after(self, fact: ServerFact) -> "TableFacts":
        """Return the tables with this one, if it is newer than the known one of its kind."""
        field = type(fact).__name__.lower()
        known: ServerFact | None = getattr(self, field)
        if known is not None and not is_newer(fact, known):
            return self
        return msgspec.structs.replace(self, **{field: fact})

    def since(self, departure: Server) -> "TableFacts":
        """Return the tables without those read before the server left the ensemble."""
        outdated: dict[str, None] = {}
        for field in self.__struct_fields__:
            fact: ServerFact | None = getattr(self, field)
            if fact is not None and not is_newer(fact, departure):
                outdated[field] = None
        return msgspec.structs.replace(self, **outdated) if outdated else self


NO_TABLES = TableFacts()


def is_newer(fact: ServerFact, known: ServerFact) -> bool:
    """Compare two facts; the times come first, because comparing the content is slow."""
    date, known_date = (fact.at, fact.zxid), (known.at, known.zxid)
    if date != known_date:
        return date > known_date
    return newness(fact) > newness(known)


def newness(fact: AnyFact) -> tuple[int, int, bytes]:
    return fact.at, fact.zxid, msgspec.msgpack.encode(fact)
