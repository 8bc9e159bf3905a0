"""Actions on demo contenders: start, release, cancel, kill, freeze, play a scene.

Nothing else in the UI writes to ZooKeeper. The first of these actions in a session asks for
permission, and `ContendersPort` refuses without it. An action is for the contender under the
cursor; where a lock is under the cursor, it is for the contender in it that fits best: the
holder for a release, the first waiter for a cancel.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from zktop.demo_types import (
    ContenderAction,
    ContenderOrder,
    ContenderState,
    LockClaim,
    Mode,
)
from zktop.ui.dialogs.choice import ChoiceDialog, Choosable
from zktop.ui.dialogs.confirm import ConfirmDialog
from zktop.ui.dialogs.new_contender import NewContender
from zktop.ui.keys import DEMO
from zktop.ui.ports import ContendersPort
from zktop.ui.state import Selection

if TYPE_CHECKING:
    from zktop.ui.app import Zktop

RECORDING: Final = "Contenders need a live ensemble: this is a recording."
READ_ONLY: Final = "This is read-only: zktop starts no contenders (--read-only, or demo.allow)."
NO_CONTENDER: Final = "No contender of ours is here. N starts one."
VERBS: Final = {"read": "read", "write": "write", "exclusive": "own"}
PREFERRED_STATES: Final[dict[ContenderAction, tuple[str, ...]]] = {
    "release": ("holds",),
    "cancel": ("waits",),
    "kill": ("holds", "waits"),
    "freeze": ("holds", "waits"),
    "thaw": ("frozen",),
}


def _if_possible(action: "Callable[[Zktop, ContendersPort], None]", app: "Zktop") -> None:
    if app.stage is None:
        app.tell(why_none(app))
    else:
        action(app, app.stage)


def why_none(app: "Zktop") -> str:
    """The reason why this session has no contenders."""
    return READ_ONLY if app.feed.is_live else RECORDING


def with_permission(app: "Zktop", port: ContendersPort, action: Callable[[], None]) -> None:
    """Run an action that writes below the demo root; ask before the first one of a session."""
    permission = port.permission
    if permission.is_given:
        action()
        return

    def answered(typed: str | None) -> None:
        if typed is not None and permission.give(typed):
            action()

    question = (
        f"zktop's contenders are real ZooKeeper clients. They create and delete znodes "
        f"on {port.hosts}, below {port.root}. You are asked this once; "
        f"a lock outside {port.root} is asked about each time."
    )
    app.push_screen(ConfirmDialog(f"Write to {port.hosts}?", question, permission.word), answered)


def play(app: "Zktop", scene: str, *, steps: bool = False) -> None:
    """Play a scene, or its first move, on screen 6."""
    port = app.stage
    if port is None:
        return

    def start() -> None:
        if steps:
            port.load(scene)
            port.control("step")
        else:
            port.play(scene)
        if app.page is None or app.page.NAME != DEMO:
            app.turn_to(DEMO)

    with_permission(app, port, start)


def new_contender(app: "Zktop", port: ContendersPort) -> None:
    """Open the order dialog, filled in for the recipe or the lock under the cursor."""
    path = app.pointed.path
    first = _order(port.recipes[0].name, path or f"{port.root}/lock")
    recipe = app.page.recipe if app.page is not None else None
    if recipe is not None:
        first = _order(recipe, f"{port.root}/lock")
    elif path is not None and (joined := port.recipe_for(_layout(app, path), "exclusive")):
        first = _order(joined[0], path, joined[1])

    def filled_in(orders: tuple[ContenderOrder, ...] | None) -> None:
        if orders:
            _start(app, port, *orders)

    def ask() -> None:
        app.push_screen(NewContender(port.recipes, first), filled_in)

    with_permission(app, port, ask)


def _order(recipe: str, path: str, mode: Mode | None = None) -> ContenderOrder:
    return ContenderOrder(recipe, (LockClaim(recipe, path, mode),))


def _join(mode: str, app: "Zktop", port: ContendersPort) -> None:
    """Start a contender in the lock under the cursor, of a recipe that fits its layout."""
    path = app.pointed.path
    if path is None:
        app.tell("There is no lock under the cursor. N starts a contender anywhere.")
        return
    layout = _layout(app, path)
    recipe = port.recipe_for(layout, mode)
    if recipe is None:
        none = f"None of our recipes joins a {layout} to {VERBS[mode]} it. N lists all."
        gone = f"There is no lock at {path} now. N starts a contender anywhere."
        app.tell(none if layout else gone)
        return
    order = _order(recipe[0], path, recipe[1])
    with_permission(app, port, lambda: _start(app, port, order))


def _start(app: "Zktop", port: ContendersPort, *orders: ContenderOrder) -> None:
    """Start contenders; ask each time for a lock outside the demo root."""
    path = orders[0].claims[0].path
    word = port.permission.word_for(path)
    many = f"{len(orders)} contenders" if len(orders) > 1 else "a contender"

    def start(typed: str | None) -> None:
        app.tell(f"Starting {many} for {path}.")
        for order in orders:
            port.start(order, typed)

    def answered(typed: str | None) -> None:
        if typed is not None:
            start(typed)

    if word is None:
        start(None)
        return
    question = (
        f"{path} on {port.hosts} is not below {port.root}: real programs may use this "
        f"lock. Starting {many} there creates znodes in it and may keep others waiting."
    )
    app.push_screen(ConfirmDialog(f"Outside {port.root}", question, word), answered)


def _act(action: ContenderAction, app: "Zktop", port: ContendersPort) -> None:
    contender = chosen(port.states, app.pointed, action)
    if contender is None:
        name = app.pointed.hand
        app.tell(f"{name} is gone. N starts another one." if name else NO_CONTENDER)
    elif action == "freeze" and contender.state == "frozen":
        port.act("thaw", contender.name)
    else:
        port.act(action, contender.name)


def chosen(
    states: Sequence[ContenderState], selection: Selection, action: ContenderAction
) -> ContenderState | None:
    """The contender that an action is for."""
    running = [one for one in states if not one.is_gone]
    if selection.hand:
        return next((one for one in running if one.name == selection.hand), None)
    if selection.session:
        return next((one for one in running if one.session == selection.session), None)
    here = [one for one in running if selection.path in (one.path, *one.holds)]
    order = (*PREFERRED_STATES[action], *(one.state for one in here))
    return min(here, key=lambda one: order.index(one.state), default=None)


def _choose_scene(app: "Zktop", port: ContendersPort) -> None:
    options = [
        Choosable(one.name, one.title, (one.teaches, f"Look at: {one.look_at}"))
        for one in port.scenes
    ]
    loaded = port.progress.scene

    def answered(name: str | None) -> None:
        if name is not None:
            play(app, name)

    def ask() -> None:
        current = loaded.name if loaded else None
        app.push_screen(ChoiceDialog("Play a scene", options, current), answered)

    with_permission(app, port, ask)


def _layout(app: "Zktop", path: str) -> str:
    frame = app.moment.frame
    view = frame.report.view(path) if frame else None
    return view.lock.layout if view else ""


ACTIONS: "Final[dict[str, Callable[[Zktop], None]]]" = {
    "new": partial(_if_possible, new_contender),
    "new_reader": partial(_if_possible, partial(_join, "read")),
    "new_writer": partial(_if_possible, partial(_join, "write")),
    "new_exclusive": partial(_if_possible, partial(_join, "exclusive")),
    "release": partial(_if_possible, partial(_act, "release")),
    "cancel": partial(_if_possible, partial(_act, "cancel")),
    "kill": partial(_if_possible, partial(_act, "kill")),
    "freeze": partial(_if_possible, partial(_act, "freeze")),
    "scene": partial(_if_possible, _choose_scene),
}
