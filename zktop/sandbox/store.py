"""The tree with its watches: applies decided changes and tells who watches."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from zktop.sandbox import acl
from zktop.sandbox.client import Client
from zktop.sandbox.codes import Event, Perm
from zktop.sandbox.draft import Change, Checked, Created, Deleted, Secured, Written
from zktop.sandbox.flavours import ZOOKEEPER, Flavour
from zktop.sandbox.tree import Moment, Tree, Znode
from zktop.sandbox.watches import News, Watches
from zktop.sandbox.wire import Acl, Stat


class Outcome(NamedTuple):
    """What an applied change left behind."""

    path: str
    stat: Stat | None


class Store:
    """All that requests read and write, and the number of the last transaction."""

    def __init__(self, wall_ms: Callable[[], int], flavour: Flavour = ZOOKEEPER) -> None:
        """Start with an empty tree; the clock stamps what is written."""
        self.flavour = flavour
        self.tree = Tree(flavour.system)
        self.watches: Watches[Client] = Watches(names_watched=flavour.names_watched)
        self.zxid = 0
        self._wall_ms = wall_ms

    def stat(self, node: Znode) -> Stat:
        """Give what this server tells of a znode."""
        return self.flavour.stat(node)

    def begin(self) -> Moment:
        """Begin a transaction; one that is refused later has used up its number, too."""
        self.zxid += 1
        return Moment(self.zxid, self._wall_ms())

    def apply(self, change: Change, moment: Moment) -> Outcome:
        """Make the change, and send news of it before anything else is sent."""
        path = change.path
        match change:
            case Created():
                return self._create(change, moment)
            case Deleted(by_request=by_request):
                node = self.tree.delete(path, moment.zxid, by_request=by_request)
                self._tell(self.watches.deleted(path), node.acl, self.tree.parent_acl(path))
                return Outcome(path, None)
            case Written(data=data, version=version):
                node = self.tree.write(path, data, version, moment)
                self._tell(self.watches.changed(path), node.acl)
                return Outcome(path, self.stat(node))
            case Secured(acl=lines, aversion=aversion):
                return Outcome(path, self.stat(self.tree.secure(path, lines, aversion)))
            case Checked():
                return Outcome(path, None)

    def _create(self, change: Created, moment: Moment) -> Outcome:
        node = Znode(
            change.data,
            change.acl,
            change.lifetime,
            czxid=moment.zxid,
            mzxid=moment.zxid,
            pzxid=moment.zxid,
            ctime=moment.ms,
            mtime=moment.ms,
        )
        self.tree.create(change.path, node, change.cversion)
        news = self.watches.created(change.path)
        self._tell(news, node.acl, self.tree.parent_acl(change.path))
        return Outcome(change.path, self.stat(node))

    def _tell(
        self,
        news: Iterator[News[Client]],
        node_acl: tuple[Acl, ...],
        parent_acl: tuple[Acl, ...] = (),
    ) -> None:
        """Send to each watcher that may read the znode; the others' watches end unheard.

        Servers before 3.8.4 told everybody, which gave names away.
        """
        for event, watchers in news:
            readers = parent_acl if event is Event.CHILDREN else node_acl
            for client, path in watchers.items():
                if acl.allows(readers, Perm.READ, client.identities):
                    client.notify(event, path)
