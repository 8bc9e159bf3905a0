"""Names that more than one client could have written: what else tells them apart."""

from typing import Final

from zktop.model.layouts.catalogue import layout_named
from zktop.model.layouts.ground import Ground
from zktop.model.layouts.layout import Layout
from zktop.model.layouts.names import read
from zktop.model.layouts.recipes import C_WRITELOCK, JAVA_WRITELOCK
from zktop.model.layouts.singles import is_probe
from zktop.model.layouts.sorting import Place, Sorted

_SIGN = 1 << 63


def disambiguate(ground: Ground, by_layout: Sorted) -> None:
    """Put children where their owners, their siblings and their path say they belong."""
    _session_ids(by_layout)
    _dashless(by_layout)
    _mesos(ground, by_layout)
    if "curator-custom" in by_layout.families:
        _probes(ground, by_layout)


def _session_ids(by_layout: Sorted) -> None:
    """`x-<id>-`: the id is the owner's session, in base 16 by the C client, else in base 10."""
    families = by_layout.families
    places = families.get(C_WRITELOCK.name, []) + families.get(JAVA_WRITELOCK.name, [])
    if not places:
        return
    decimal = sum(_is_session(place, 10) for place in places)
    hexadecimal = sum(_is_session(place, 16) for place in places)
    if decimal == hexadecimal:
        return
    winner = JAVA_WRITELOCK if decimal > hexadecimal else C_WRITELOCK
    loser = C_WRITELOCK if winner is JAVA_WRITELOCK else JAVA_WRITELOCK
    if loser.name in families and all(read(winner, p.znode.name) for p in families[loser.name]):
        by_layout.move(loser.name, winner)


def _is_session(place: Place, base: int) -> bool:
    stat, text = place.znode.stat, place.name.id or ""
    if stat is None or not stat.owner:
        return False
    try:
        return int(text, base) & (2 * _SIGN - 1) == stat.owner
    except ValueError:
        return False


def _dashless(by_layout: Sorted) -> None:
    """`lock-2147483648` shows that the dash is a minus sign, in its siblings, too."""
    if "plain-lock-dashless" in by_layout.families and "plain-lock" in by_layout.families:
        places = by_layout.families["plain-lock"]
        dashless = _LAYOUT["plain-lock-dashless"]
        if all(read(dashless, place.znode.name) for place in places):
            by_layout.move("plain-lock", dashless)


def _mesos(ground: Ground, by_layout: Sorted) -> None:
    """Count bare numbers to Mesos' group beside `info_` names, and in its log's folder."""
    if "bare-sequence" not in by_layout.families:
        return
    if "mesos-group" in by_layout.families or ground.path.endswith("/log_replicas"):
        by_layout.move("bare-sequence", _LAYOUT["mesos-group"])


def _probes(ground: Ground, by_layout: Sorted) -> None:
    """Old Spring leaked nodes named like a sibling; they never contended for anything."""
    places = by_layout.families["curator-custom"]
    leaked = [place for place in places if is_probe(place.znode.name, ground.family)]
    places[:] = [place for place in places if place not in leaked]
    by_layout.rest.extend(place.znode for place in leaked)
    if not places:
        del by_layout.families["curator-custom"]


def _known(name: str) -> Layout:
    layout = layout_named(name)
    if layout is None:
        raise LookupError(name)
    return layout


_LAYOUT: Final = {name: _known(name) for name in ("mesos-group", "plain-lock-dashless")}
