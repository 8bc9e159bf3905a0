"""The order in which layouts are tried on names: of two that match, the earlier one wins."""

from typing import Final

import msgspec

from zktop.model.layouts import libraries, tutorials
from zktop.model.layouts.infrastructure import ACCUMULO, MESOS, SERVERS
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.libraries import CURATOR, GO, KAZOO_LOCK, RUBY, ZKTOOLS

_NAMES: Final[tuple[Layout, ...]] = (
    KAZOO_LOCK,
    *CURATOR,
    *ACCUMULO,
    *SERVERS,
    libraries.C_WRITELOCK,
    libraries.JAVA_WRITELOCK,
    *GO,
    *ZKTOOLS,
    *RUBY,
    libraries.ELECTION,
    *tutorials.SHORT,
    libraries.CURATOR_CUSTOM,
    *tutorials.LONG,
    libraries.GUID_LOCK,
    *tutorials.PLAIN,
    MESOS,
    tutorials.NAMED,
)

BY_NAME: Final = tuple(msgspec.structs.replace(one, kind=one.means) for one in _NAMES)
