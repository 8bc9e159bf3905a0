"""The user's list of owners: who is behind a session, an address, a host or a pattern of hosts.

The config file has one, and an owners file that is reread when it changes may have another; the
entries of the config come first. An entry is a name, or a name with other fields.
"""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property

import msgspec

from zktop.model.text import Text, clean

NAME = "name"  # the key of the name, in an entry with other fields
ADDRESS = "address"  # the key of the address, in an entry from an audit log

OwnerEntry = str | dict[str, str]


class OwnerList(msgspec.Struct, frozen=True, dict=True, eq=False):
    """Owners by session (`0x1f`), address (`10.0.0.1:4000`), host or pattern (`10.0.7.*`)."""

    entries: Mapping[str, OwnerEntry] = {}

    def has_entries_of(self, other: "OwnerList") -> bool:
        """Whether two lists have the same entries. For the same object, this takes no time."""
        return self is other or self.entries == other.entries

    def key_of(self, session: str, client: str) -> str | None:
        """Return the matching key: session, address or host, else the first matching pattern."""
        if not self.entries:
            return None
        host = client.rpartition(":")[0]
        for key in (session, client, host):
            if key and key in self.entries:
                return key
        matching = (key for key, pattern in self._patterns if client and pattern.fullmatch(host))
        return next(matching, None)

    def name(self, key: str) -> Text:
        entry = self.entries[key]
        return clean(entry if isinstance(entry, str) else entry.get(NAME, "")) or clean(key)

    def is_only(self, key: str) -> bool:
        """Whether no other entry has this name, and the entry is not a pattern."""
        return "*" not in key and self._uses[self.name(key)] == 1

    def details_of(self, session: str, client: str) -> Mapping[Text, Text]:
        """Return all fields of an owner: the name, then the rest in the user's order."""
        key = self.key_of(session, client)
        if key is None:
            return {}
        entry = self.entries[key]
        rest = {} if isinstance(entry, str) else entry
        return {Text(NAME): self.name(key)} | {
            clean(field): clean(text) for field, text in rest.items() if field != NAME
        }

    def address_of(self, session: str) -> Text:
        """Return the address in the entry of a session, or "" if it has none."""
        entry = self.entries.get(session, "")
        return clean(entry.get(ADDRESS, "")) if isinstance(entry, dict) else Text("")

    @cached_property
    def _uses(self) -> Counter[str]:
        return Counter(map(self.name, self.entries))

    @cached_property
    def _patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        return [(key, _pattern(key)) for key in self.entries if "*" in key]


def _pattern(key: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, key.split("*"))))
