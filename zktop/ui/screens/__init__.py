"""The numbered screens. A new screen is a folder here and an entry in `PAGES`."""

from typing import Final

from zktop.ui.screens.page import PageEntry

PAGES: Final = (
    PageEntry("locks", "Locks", "LocksScreen", "1", "all locks"),
    PageEntry("lock", "Lock", "LockScreen", "2", "one lock", shows_tables=True),
    PageEntry("findings", "Deadlocks", "FindingsScreen", "3", "deadlocks and findings"),
    PageEntry(
        "sessions", "Sessions", "SessionsScreen", "4", "sessions and servers", shows_tables=True
    ),
    PageEntry("timeline", "Timeline", "TimelineScreen", "5", "the timeline"),
    PageEntry(
        "demo", "Learn", "DemoScreen", "6", "lessons and demo clients", needs_contenders=True
    ),
)


def page_named(name: str) -> PageEntry:
    return next(page for page in PAGES if page.name == name)
