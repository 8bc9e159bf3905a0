"""The inks: the meanings that a piece of text can have. A theme gives each a colour.

Code that draws names an ink, never a colour, so a theme can change every colour.
"""

from typing import Literal, get_args

Ink = Literal[
    "plain",
    "dim",  # less important, or only assumed
    "strong",
    "title",
    "key",  # a key to press
    "holds",
    "waits",
    "standby",
    "critical",  # a proven problem: C3, C4
    "warning",  # a warning, or a critical problem that is only likely
    "info",
    "good",
    "unknown",  # no data
    "ours",  # a demo contender
    "selected",
    "paused",  # must not be missed
    "address",  # that of a client or a server
    "election",
    "alarm",  # a filled pill: something is wrong
    "caution",  # ... something may be wrong
    "allowed",  # ... yes
    "tab",  # ... the screen that is shown
    "medium",  # the steps of a graph's gradient
    "warm",
    "hot",
    "high",
]
INKS: tuple[Ink, ...] = get_args(Ink)
