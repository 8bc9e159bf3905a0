"""Empty lock folders that zktop does not count as locks: nothing ever queued in them.

Clients that create a folder for each lock and never delete it fill the parent, until its listing
is larger than a client accepts (`jute.maxbuffer`).
"""

from collections import Counter
from collections.abc import Iterator

from zktop.model.facts import join, split
from zktop.model.report import Report
from zktop.model.text import Text
from zktop.model.world.children_of_znode import NO_FAMILY, Family, Znode
from zktop.output.metrics.lock_totals import root_label


def empty_folders(report: Report) -> Counter[str]:
    """Count persistent znodes without children that are siblings of locks, by root."""
    return Counter(root_label(path, report.settings) for path in _empty(report))


def _empty(report: Report) -> Iterator[Text]:
    families, locks = report.world.families, report.records
    if report.settings.roots:
        parents = {path for path in families if path not in locks}
    else:
        parents = {split(path)[0] for path in report.paths}
    for parent in parents:
        for znode in filter(_may_be_folder, families.get(parent, NO_FAMILY)):
            path = join(parent, znode.name)
            is_empty = _is_empty(znode, families.get(path, NO_FAMILY))
            if is_empty and path not in locks and _is_below_root(path, report):
                yield path


def _may_be_folder(znode: Znode) -> bool:
    stat = znode.stat
    is_persistent = stat is not None and not stat.owner
    return is_persistent and not NO_FAMILY.may_have_numbered(znode.name)


def _is_empty(znode: Znode, family: Family) -> bool:
    """Return whether a znode is known to have no children, by its listing or its Stat."""
    is_known = family.listed or (znode.stat is not None and not znode.stat.num_children)
    return is_known and not family.members


def _is_below_root(path: Text, report: Report) -> bool:
    return not report.settings.roots or report.settings.root_of(path) is not None
