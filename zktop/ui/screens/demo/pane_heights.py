"""How the panes of screen 6 share the lines of a window."""

from typing import Final, NamedTuple

MIN_CLIENT_LINES: Final = 8  # contenders and log together
MIN_LOG_LINES: Final = 4
MIN_TEXT_LINES: Final = 5
SHORT_TEXT_LINES, SHORT_LOG_LINES = 12, 7  # below a picture
READABLE_LINES: Final = 16  # a longer text may scroll to leave room for contenders


class Heights(NamedTuple):
    """The heights of the panes in lines, frames included. A pane with 0 lines is not shown."""

    picture: int
    text: int
    contenders: int
    log: int


def share(room: int, picture: int, text: int, contenders: int, *, is_alone: bool) -> Heights:
    """Divide the lines: first picture and text, then contenders. The log gets the rest.

    In a small window, picture and text get all lines, or all but those of a short log, because
    the picture shows the contenders. With `is_alone` no picture shows them, so their list comes
    first.

    >>> share(33, 8, 12, 8, is_alone=False)
    Heights(picture=8, text=12, contenders=6, log=7)
    >>> share(33, 13, 22, 8, is_alone=False)
    Heights(picture=13, text=13, contenders=0, log=7)
    >>> share(33, 0, 22, 8, is_alone=True)
    Heights(picture=0, text=21, contenders=8, log=4)
    """
    picture = min(picture, room - MIN_TEXT_LINES)
    left = room - picture
    needed = contenders + MIN_LOG_LINES if is_alone else MIN_CLIENT_LINES
    if not is_alone and left < min(text, READABLE_LINES) + needed:
        log = SHORT_LOG_LINES if picture and left >= SHORT_TEXT_LINES + SHORT_LOG_LINES else 0
        return Heights(picture, left - log, 0, log)
    text = min(text, max(MIN_TEXT_LINES, left - needed))
    left -= text
    contenders = min(contenders, left - MIN_LOG_LINES if is_alone else left // 2)
    return Heights(picture, text, contenders, left - contenders)


def share_columns(room: int, picture: int, contenders: int) -> Heights:
    """Divide the lines of two columns: picture and text on the left, contenders and log beside.

    >>> share_columns(40, 13, 8)
    Heights(picture=13, text=27, contenders=8, log=32)
    """
    picture = min(picture, room - MIN_TEXT_LINES)
    if room < MIN_CLIENT_LINES:
        return Heights(picture, room - picture, 0, 0)
    contenders = min(contenders, room // 2)
    return Heights(picture, room - picture, contenders, room - contenders)
