"""The order in which layouts are tried on names: of two that match, the earlier one wins."""

from typing import Final

import msgspec

from zktop.model.layouts import main_libraries, other_libraries
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.main_libraries import CURATOR, GO, KAZOO_LOCK, RUBY, ZKTOOLS
from zktop.model.layouts.numbered_nodes_of_servers import ACCUMULO, MESOS, SERVERS

_NAMES: Final[tuple[Layout, ...]] = (
    KAZOO_LOCK,
    *CURATOR,
    *ACCUMULO,
    *SERVERS,
    main_libraries.C_WRITELOCK,
    main_libraries.JAVA_WRITELOCK,
    *GO,
    *ZKTOOLS,
    *RUBY,
    main_libraries.ELECTION,
    *other_libraries.SHORT,
    main_libraries.CURATOR_CUSTOM,
    *other_libraries.LONG,
    main_libraries.GUID_LOCK,
    *other_libraries.PLAIN,
    MESOS,
    other_libraries.NAMED,
)

BY_NAME: Final = tuple(msgspec.structs.replace(layout, kind=layout.means) for layout in _NAMES)
