"""The state of one cluster in the UI: its feed, its past, and the user's place in it.

A visit lasts until zktop ends. A cluster that is not shown stays connected: its past has no gap,
its alerts are announced, and a user who returns finds the same page and selection.
"""

from typing import Final

from textual.widgets import ContentSwitcher

from zktop.model.facts import Millis
from zktop.ui.acknowledged import NOTHING_ACKNOWLEDGED
from zktop.ui.filters import parsed_filter
from zktop.ui.inbox import Inbox, Wake
from zktop.ui.interfaces import Complaint, Frame, News, OpenCluster, Status
from zktop.ui.navigation_history import NavigationHistory
from zktop.ui.notify import Notifier
from zktop.ui.past.memory_limits import REPLAY
from zktop.ui.past.playback import Playback
from zktop.ui.past.pulse import Pulse
from zktop.ui.past.tape import Tape
from zktop.ui.view_state import KeyOf, Selection, ViewState

MAX_RECENT: Final = 5


class Visit:
    """The state of one cluster in the UI."""

    def __init__(
        self, number: int, cluster: OpenCluster, wake: Wake, page: str, at: Millis | None = None
    ) -> None:
        """Prepare a visit that begins on a page; `at` is where a recording starts."""
        feed = cluster.feed
        self.name = feed.name
        self.feed, self.contenders, self.exports = feed, cluster.contenders, cluster.exports
        self._begin_past()
        self.playback = Playback(is_live=feed.is_live, at=at)
        tries = "Connecting to" if feed.is_live else "Opening"
        self.status = Status("connecting", f"{tries} {feed.name} ...")
        self._has_failed = False  # the last finished attempt to connect
        self.notifier = Notifier()
        self.inbox = Inbox(wake, waits=not feed.is_live)
        self.page = page  # shown while this cluster is on display
        self.is_packing = False  # the oldest frames of the tape
        self.recording = ""  # the file that is being written
        self.subject = Selection()
        self._filters: dict[str, str] = {}  # by page, as words rarely match on another
        self.navigation = NavigationHistory()
        self.acknowledged = NOTHING_ACKNOWLEDGED
        self.recent: list[str] = []  # names of palette items, the last one first
        self.pages = ContentSwitcher(id=f"cluster-{number}")

    def start(self) -> None:
        """Start the feed, and listen to the contenders."""
        if self.contenders is not None:
            self.contenders.listen(self.inbox.wake, self.complain)
        self.feed.start(self.inbox.put)

    def complain(self, sentence: str) -> None:
        """Show an error message. Thread-safe."""
        self.inbox.put(Complaint(sentence))

    @property
    def filter_text(self) -> str:
        return self._filters.get(self.page, "")

    @filter_text.setter
    def filter_text(self, text: str) -> None:
        self._filters[self.page] = text

    @property
    def is_unpacking(self) -> bool:
        """True until the report of the current moment is rebuilt."""
        at = self.playback.moment(self.tape)
        return at is not None and not self.playback.is_newest and self.tape.is_packed(at)

    def remember(self, name: str) -> None:
        """Add an item of the palette to the recent ones."""
        others = [item for item in self.recent if item != name]
        self.recent = [name, *others][:MAX_RECENT]

    @property
    def was_never_connected(self) -> bool:
        """True if all connection attempts so far have failed."""
        return self.feed.is_live and self.tape.last is None and self._has_failed

    def _begin_past(self) -> None:
        self.tape = Tape(None if self.feed.is_live else REPLAY)
        self.pulse = Pulse()

    def keep(self, news: News) -> None:
        if isinstance(news, Frame):
            if self.tape.last is not None and self.tape.last.is_early:
                self._begin_past()  # otherwise, all locks read since then would look new
            self.tape.add(news)
            self.pulse.add(news)
            if self.feed.is_live:
                self.acknowledged = self.acknowledged.after(news.report)
        elif isinstance(news, Status):
            self.status = news
            if news.word != "connecting":
                self._has_failed = news.word == "failed"
            self.playback.is_all_read |= news.is_end
        elif news.ends_recording:
            self.recording = ""

    def view_state(self, key_of: KeyOf, *, is_ascii: bool, hides_notes: bool) -> ViewState:
        """Return what the pages draw: the report at the cursor, and everything around it."""
        playback = self.playback
        return ViewState(
            frame=playback.frame(self.tape),
            status=self.status,
            tape=self.tape,
            pulse=self.pulse,
            key_of=key_of,
            feed=self.feed,
            contenders=self.contenders,
            exports=self.exports,
            subject=self.subject,
            filter=parsed_filter(self.filter_text),
            is_newest=playback.is_newest,
            is_unpacking=self.is_unpacking,
            at=playback.moment(self.tape),
            is_paused=playback.is_paused,
            is_playing=playback.is_playing,
            speed=playback.speed,
            is_ascii=is_ascii,
            acknowledged=self.acknowledged,
            hides_notes=hides_notes,
        )
