"""The pages, in the order of their number keys: a new one is a file and an entry here.

A page is imported when it is first shown, so that the first frame need not wait for six.
"""

from importlib import import_module
from typing import Final, NamedTuple

from zktop.ui.screens.screen import Page


class PageEntry(NamedTuple):
    """A page, and where to find it."""

    name: str
    title: str
    class_name: str

    def made(self) -> Page:
        """Make it."""
        module = import_module(f"zktop.ui.screens.{self.name}.screen")
        page: Page = getattr(module, self.class_name)(id=f"page-{self.name}")
        return page


PAGES: Final = (
    PageEntry("locks", "Locks", "LocksScreen"),
    PageEntry("lock", "Lock", "LockScreen"),
    PageEntry("findings", "Deadlocks", "FindingsScreen"),
    PageEntry("sessions", "Sessions", "SessionsScreen"),
    PageEntry("timeline", "Timeline", "TimelineScreen"),
    PageEntry("demo", "Demo", "DemoScreen"),
)


def page_named(name: str) -> PageEntry:
    """Give the entry of a page."""
    return next(page for page in PAGES if page.name == name)
