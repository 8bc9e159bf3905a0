"""The table of demo contenders: what each one believes, and what it reported last."""

from typing import Final, get_args

from zktop.demo_types.contender_state import ConnectionLoss, ContenderActivity, ContenderState
from zktop.ui.filters import Filter
from zktop.ui.inks import Ink
from zktop.ui.styled_text import Line, line
from zktop.ui.widgets.panel import Panel
from zktop.ui.widgets.table import Column, Table

INK_OF_STATE: dict[str, Ink] = {
    "holds": "holds",
    "waits": "waits",
    "frozen": "critical",
    "suspended": "warning",
    "lost": "critical",
}
WORDS_OF_OTHER_SCREENS: Final = {"holds": "holding", "waits": "waiting"}

STATES: Final = (  # what `state:` may find
    *WORDS_OF_OTHER_SCREENS.values(),
    "frozen",
    "ended",
    "killed by signal",
    *get_args(ConnectionLoss),
    *get_args(ContenderActivity),
)


def passes(contender: ContenderState, wanted: Filter) -> bool:
    name, path, recipe = contender.name, contender.path, contender.recipe
    words = f"{name} {contender.state} {path} {recipe} {contender.mode} {contender.says}"
    state = f"{contender.state} {WORDS_OF_OTHER_SCREENS.get(contender.state, '')}"
    return wanted.passes({"": words, "state": state, "owner": contender.name})


def _lock(contender: ContenderState) -> Line:
    """Return the last two names of the lock's path. Demo locks share the rest."""
    return line("/".join(contender.path.split("/")[-2:]))


def _state(contender: ContenderState) -> Line:
    ink: Ink = "dim" if contender.is_gone else INK_OF_STATE.get(contender.state, "plain")
    return line((contender.state, ink))


COLUMNS = (
    Column[ContenderState](
        "CLIENT",
        14,
        lambda contender: line((contender.name, "dim" if contender.is_gone else "ours")),
        cuts_middle=lambda _: True,
    ),
    Column[ContenderState]("STATE", 18, _state),
    Column[ContenderState]("LOCK", 16, _lock, share=1),
    Column[ContenderState]("MODE", 9, lambda contender: line(contender.mode), rank=2),
    Column[ContenderState]("RECIPE", 14, lambda contender: line(contender.recipe), rank=1),
    Column[ContenderState]("SAYS", 16, lambda contender: line((contender.says, "dim")), share=2),
)


class ContenderTable(Panel, Table[ContenderState]):
    """The demo contenders."""

    def __init__(self) -> None:
        super().__init__(COLUMNS, lambda contender: contender.name, id="contenders")
