"""The app's clusters: a visit for each, and the attributes of the one on display."""

from zktop.ui.base_app import BaseApp
from zktop.ui.interfaces import ClusterList, ClusterPorts, ContendersPort, Feed
from zktop.ui.past.playback import Playback
from zktop.ui.past.tape import Tape
from zktop.ui.settings import UiSettings
from zktop.ui.view_state import Selection, ViewState
from zktop.ui.visit import Visit


class ClusterApp(BaseApp):
    """Keeps a visit for each cluster, and knows which one is on display."""

    def __init__(
        self, settings: UiSettings, first: ClusterPorts, clusters: ClusterList | None
    ) -> None:
        """Prepare the first visit; `clusters` opens the others."""
        super().__init__(settings)
        self.clusters = clusters
        self.hides_notes = False
        self.visits: dict[str, Visit] = {}  # by the names of the clusters
        self.visit = self._prepared(first)

    def _prepared(self, ports: ClusterPorts) -> Visit:
        settings, number = self.settings, len(self.visits) + 1
        visit = Visit(number, ports, self.wake, settings.page, settings.at)
        self.visits[visit.name] = visit
        return visit

    def visit_cluster(self, name: str) -> None:
        """Switch to a cluster, as the user left it; on the first visit, connect to it.

        Playback stops in the cluster that was on display.
        """
        if name not in self.visits and self.clusters is not None:
            self._prepared(self.clusters.open(name)).start()
        self.playback.rest()
        self.visit = self.visits[name]

    def wake(self) -> None:
        """Take news from all visits. May be called on any thread; for subclasses."""
        raise NotImplementedError

    @property
    def view_state(self) -> ViewState:
        """What the pages draw: the report at the cursor in time, and everything around it."""
        return self.visit.view_state(is_ascii=self.settings.is_ascii, hides_notes=self.hides_notes)

    @property
    def feed(self) -> Feed:
        return self.visit.feed

    @property
    def contenders(self) -> ContendersPort | None:
        return self.visit.contenders

    @property
    def tape(self) -> Tape:
        return self.visit.tape

    @property
    def playback(self) -> Playback:
        return self.visit.playback

    @property
    def subject(self) -> Selection:
        return self.visit.subject

    @subject.setter
    def subject(self, selection: Selection) -> None:
        self.visit.subject = selection
