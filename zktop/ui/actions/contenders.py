"""Actions on demo contenders: start, release, cancel, kill, freeze, play a scene.

Nothing else in the UI writes to ZooKeeper. The first of these actions in a session asks for
permission, and `ContendersPort` refuses without it. An action is for the contender under the
cursor; where a lock is under the cursor, it is for the contender in it that fits best: the
holder for a release, the first waiter for a cancel.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from zktop.demo_types import (
    ContenderAction,
    ContenderOrder,
    ContenderState,
    LockClaim,
    Mode,
)
from zktop.ui.dialogs.choice import ChoiceDialog, Choosable
from zktop.ui.dialogs.new_contender import NewContender
from zktop.ui.dialogs.permission import ConfirmDialog
from zktop.ui.interfaces import ContendersPort
from zktop.ui.keys import DEMO
from zktop.ui.messages import PlayScene
from zktop.ui.shell import Shell
from zktop.ui.view_state import Selection

RECORDING: Final = "Contenders need a live ensemble: this is a recording."
READ_ONLY: Final = "This is read-only: zktop starts no contenders (--read-only, or demo.allow)."
NO_CONTENDER: Final = "No demo contender is here. N starts one."
VERBS: Final = {"read": "read", "write": "write", "exclusive": "own"}
PREFERRED_STATES: Final[dict[ContenderAction, tuple[str, ...]]] = {
    "release": ("holds",),
    "cancel": ("waits",),
    "kill": ("holds", "waits"),
    "freeze": ("holds", "waits"),
    "thaw": ("frozen",),
}


def _if_possible(action: Callable[[Shell, ContendersPort], None], app: Shell) -> None:
    if app.contenders is None:
        app.show_message(why_none(app))
    else:
        action(app, app.contenders)


def why_none(app: Shell) -> str:
    """The reason why this session has no contenders."""
    return READ_ONLY if app.feed.is_live else RECORDING


def with_permission(app: Shell, port: ContendersPort, action: Callable[[], None]) -> None:
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


def play(app: Shell, scene: str, *, steps: bool = False) -> None:
    """Play a scene, or its first move, on screen 6."""
    port = app.contenders
    if port is None:
        return

    def start() -> None:
        if steps:
            port.load(scene)
            port.control("step")
        else:
            port.play(scene)
        if app.page is None or app.page.entry.name != DEMO:
            app.turn_to(DEMO)

    with_permission(app, port, start)


def new_contender(app: Shell, port: ContendersPort) -> None:
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


def _join(mode: str, app: Shell, port: ContendersPort) -> None:
    """Start a contender in the lock under the cursor, of a recipe that fits its layout."""
    path = app.pointed.path
    if path is None:
        app.show_message("There is no lock under the cursor. N starts a contender anywhere.")
        return
    layout = _layout(app, path)
    recipe = port.recipe_for(layout, mode)
    if recipe is None:
        none = f"No recipe of zktop can {VERBS[mode]} a {layout}. N lists all recipes."
        gone = f"There is no lock at {path} now. N starts a contender anywhere."
        app.show_message(none if layout else gone)
        return
    order = _order(recipe[0], path, recipe[1])
    with_permission(app, port, lambda: _start(app, port, order))


def _start(app: Shell, port: ContendersPort, *orders: ContenderOrder) -> None:
    """Start contenders; ask each time for a lock outside the demo root."""
    path = orders[0].claims[0].path
    word = port.permission.word_for(path)
    many = f"{len(orders)} contenders" if len(orders) > 1 else "a contender"

    def start(typed: str | None) -> None:
        app.show_message(f"Starting {many} for {path}.")
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


def _act(action: ContenderAction, app: Shell, port: ContendersPort) -> None:
    contender = chosen(port.states, app.pointed, action)
    if contender is None:
        name = app.pointed.contender
        app.show_message(f"{name} is gone. N starts another one." if name else NO_CONTENDER)
    elif action == "freeze" and contender.state == "frozen":
        port.act("thaw", contender.name)
    else:
        port.act(action, contender.name)


def chosen(
    states: Sequence[ContenderState], selection: Selection, action: ContenderAction
) -> ContenderState | None:
    """The contender that an action is for."""
    running = [one for one in states if not one.is_gone]
    if selection.contender:
        return next((one for one in running if one.name == selection.contender), None)
    if selection.session:
        return next((one for one in running if one.session == selection.session), None)
    here = [one for one in running if selection.path in (one.path, *one.holds)]
    order = (*PREFERRED_STATES[action], *(one.state for one in here))
    return min(here, key=lambda one: order.index(one.state), default=None)


def _choose_scene(app: Shell, port: ContendersPort) -> None:
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


def _layout(app: Shell, path: str) -> str:
    frame = app.view_state.frame
    view = frame.report.view(path) if frame else None
    return view.lock.layout if view else ""


class ContenderActions(Shell):
    """The keys that start demo contenders, act on one of them, or play a scene."""

    def on_play_scene(self, message: PlayScene) -> None:
        """Play a scene that a page or the command line asks for."""
        play(self, message.scene, steps=message.steps)

    def action_new(self) -> None:
        """Ask what to start."""
        _if_possible(new_contender, self)

    def action_new_reader(self) -> None:
        """Add a reader to the selected lock."""
        _if_possible(partial(_join, "read"), self)

    def action_new_writer(self) -> None:
        """Add a writer to the selected lock."""
        _if_possible(partial(_join, "write"), self)

    def action_new_exclusive(self) -> None:
        """Add an exclusive contender to the selected lock."""
        _if_possible(partial(_join, "exclusive"), self)

    def action_release(self) -> None:
        """Make a contender release its lock."""
        _if_possible(partial(_act, "release"), self)

    def action_cancel(self) -> None:
        """Cancel the request of a contender."""
        _if_possible(partial(_act, "cancel"), self)

    def action_kill(self) -> None:
        """Kill a contender."""
        _if_possible(partial(_act, "kill"), self)

    def action_freeze(self) -> None:
        """Freeze a contender, or thaw it."""
        _if_possible(partial(_act, "freeze"), self)

    def action_scene(self) -> None:
        """Choose a scene and play it."""
        _if_possible(_choose_scene, self)
