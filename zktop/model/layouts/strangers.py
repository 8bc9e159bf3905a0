"""Things that look like locks and are none: groups, barriers, queues, reference counts."""

import re
from collections.abc import Iterable
from typing import Final

from zktop.model.family import Family, Znode
from zktop.model.layouts.names import MACROS

_H32, _U36 = MACROS["{H32}"], MACROS["{U36}"]
_HOST_PID: Final = rb".+-\d+"

# Name pattern -> what it is. One such child decides, where no contender is around.
_NAMES: Final = {
    rf"{_H32}__party__": "kazoo-party",
    rf"{_H32}-(?!.*-n_\d{{10}}$)(?!(?:lock|read|write)-).*": "kazoo-shallow-party",
    r"(?:condition|party|countDownLatch)-.*": "menagerie-other",
    rf"{_U36}(?::{_U36}:.*)?\|.*\d{{10}}": "ignite-discovery",
}
_QUEUE: Final = r"(?:qn-|queue-|entry-\d{3}-|message|config_change_)-?\d{9,10}"


def barrier(family: Family) -> str | None:
    """Tell whether these are the participants of a double barrier."""
    names = family.members.keys()
    if "ready" not in names:
        return None
    if any(re.fullmatch(_H32, name) for name in names):
        return "kazoo-double-barrier"
    return "curator-double-barrier" if any(re.fullmatch(_U36, name) for name in names) else None


def entering(family: Family) -> str | None:
    """Tell whether these look like a double barrier that is not open yet."""
    hosts = [
        z for z in family if re.fullmatch(_H32, z.name) and re.fullmatch(_HOST_PID, z.data or b"")
    ]
    return "kazoo-double-barrier" if hosts and len(hosts) == len(family.members) else None


def stranger(znodes: Iterable[Znode]) -> str | None:
    """Name what else these children are, when none of them contends for a lock."""
    sampled = list(znodes)[:64]
    for znode in sampled:
        if re.fullmatch(_QUEUE, znode.name) and not (znode.stat and znode.stat.owner):
            return "queue"
        for pattern, kind in _NAMES.items():
            if re.fullmatch(pattern, znode.name):
                return kind
    held = [z for z in sampled if re.fullmatch(_U36, z.name) and z.stat and z.stat.owner]
    return "flink-state-handles" if held and len(held) == len(sampled) else None
