"""Ages as they are shown beside something that goes on: how old, and how well that is known."""

from zktop.headless.durations import spoken
from zktop.model.facts import Millis
from zktop.model.history.event import How

SECOND_MS = 1000
TEN_S_MS = 10 * SECOND_MS
SIGNS: dict[How, tuple[str, str]] = {
    "seen": ("", ""),
    "at-least": ("≥", ">="),
    "at-most": ("≤", "<="),
    "unknown": ("", ""),
}


def running(ms: Millis) -> str:
    """Write a time that is still passing: whole seconds, because tenths only flicker.

    >>> running(300), running(3_900), running(384_000)
    ('<1s', '3s', '6m24s')
    """
    if ms < SECOND_MS:
        return "<1s"
    return f"{ms // SECOND_MS}s" if ms < TEN_S_MS else spoken(ms / SECOND_MS)


def age(at: Millis | None, how: How, now: Millis, *, is_ascii: bool = False) -> str:
    """Write for how long something has been so.

    >>> age(0, "seen", 12_000), age(0, "at-least", 12_000), age(None, "unknown", 12_000)
    ('12s', '≥12s', '?')
    >>> age(0, "at-least", 12_000, is_ascii=True)
    '>=12s'
    """
    if at is None or how == "unknown":
        return "?"
    return SIGNS[how][is_ascii] + running(max(0, now - at))
