"""Actions on demo contenders: start, release, cancel, kill, freeze, play a scene.

Nothing else in the UI writes to ZooKeeper. The first of these actions in a session asks for
permission, and `ContendersPort` refuses without it. An action applies to the contender under the
cursor. If a lock is under the cursor, it applies to the contender in it that fits best: the holder
for a release, the first waiter for a cancel.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from zktop.demo_types.contender_order import ContenderOrder, LockClaim, Mode
from zktop.demo_types.contender_state import ContenderAction, ContenderState
from zktop.ui.dialogs.choice import ChoiceDialog, Choosable
from zktop.ui.dialogs.new_contender import NewContender
from zktop.ui.dialogs.question import ConfirmDialog, YesNoDialog
from zktop.ui.interfaces import ContendersPort
from zktop.ui.keys import DEMO
from zktop.ui.messages import PlayScene
from zktop.ui.shell import Shell
from zktop.ui.view_state import Selection
from zktop.ui.widgets.panel import LogPanel

RECORDING: Final = "This is a recording. Demo clients need a live ensemble."
READ_ONLY: Final = "Read-only: zktop starts no demo clients (--read-only, or demo.allow)."
VERBS: Final = {"read": "read", "write": "write", "exclusive": "own"}
DONE: Final[dict[ContenderAction, str]] = {
    "release": "Asked {} to release its lock.",
    "cancel": "Asked {} to cancel its request.",
    "kill": "Killed {}. Its session expires later.",
    "freeze": "Froze {}.",
    "thaw": "Thawed {}.",
}
PREFERRED_ROLES: Final[dict[ContenderAction, tuple[str, ...]]] = {
    "release": ("holds",),
    "cancel": ("waits",),
    "kill": ("holds", "waits"),
    "freeze": ("holds", "waits"),
}


def why_no_contenders(app: Shell) -> str:
    """Return a sentence that says why this session has no contenders."""
    return READ_ONLY if app.feed.is_live else RECORDING


class ContenderActions(Shell):
    """The keys that start demo contenders, act on one of them, or play a scene.

    A session without contenders has none of these keys.
    """

    def on_play_scene(self, message: PlayScene) -> None:
        """Play a scene that a page or the command line asks for."""
        if self.contenders is not None:
            self._play(self.contenders, message.scene, steps=message.steps)

    def action_new(self) -> None:
        """Open the order dialog, filled in for the recipe or the lock under the cursor."""
        port = self.contenders
        if port is None:
            return
        path = self.selection.path
        first = _order(port.recipes[0].name, path or f"{port.root}/lock")
        recipe = self.page.recipe if self.page is not None else None
        if recipe is not None:
            first = _order(recipe, f"{port.root}/lock")
        elif path is not None:
            layout, leases = self._layout_and_leases(path)
            if recipe_and_mode := port.recipe_for(layout, "exclusive"):
                name, mode = recipe_and_mode
                first = _order(name, path, mode, leases)

        def ask() -> None:
            self.ask(NewContender(port.recipes, first), partial(self._start, port))

        self._with_permission(port, ask)

    def action_new_reader(self) -> None:
        self._join("read")

    def action_new_writer(self) -> None:
        self._join("write")

    def action_new_exclusive(self) -> None:
        self._join("exclusive")

    def action_release(self) -> None:
        self._act("release")

    def action_cancel(self) -> None:
        self._act("cancel")

    def action_kill(self) -> None:
        self._act("kill")

    def action_freeze(self) -> None:
        self._act("freeze")

    def action_scene(self) -> None:
        port = self.contenders
        if port is None:
            return
        loaded = port.progress.scene
        options = [
            Choosable(scene.name, scene.title, (scene.teaches, f"Notice: {scene.look_at}"))
            for scene in port.scenes
        ]

        def ask() -> None:
            dialog = ChoiceDialog("Play a scene", options, loaded.name if loaded else None)
            self.ask(dialog, partial(self._play, port))

        self._with_permission(port, ask)

    def _with_permission(self, port: ContendersPort, action: Callable[[], None]) -> None:
        """Run an action that writes below the demo root. Ask before the first such action."""
        permission = port.permission
        if permission.is_given:
            action()
            return

        def give(typed: str) -> None:
            if permission.give(typed):
                action()

        question = (
            f"Demo clients are real ZooKeeper clients. They create and delete znodes on "
            f"{port.hosts}, below {port.root}. zktop asks this once; "
            f"for a lock outside {port.root} it asks each time."
        )
        dialog = ConfirmDialog(f"Write to {port.hosts}?", question, permission.word)
        self.ask(dialog, give)

    def _play(self, port: ContendersPort, scene: str, *, steps: bool = False) -> None:
        """Play a scene, or its first move, on screen 6."""

        def start() -> None:
            if steps:
                port.load(scene)
                port.control("step")
            else:
                port.play(scene)
            if self.page is None or self.page.entry.name != DEMO:
                self.turn_to(DEMO)

        loaded = port.progress.scene
        is_ending = port.progress.phase == "cleaning"
        if loaded is None or loaded.name != scene or steps or is_ending:
            self._with_permission(port, start)
            return
        says = f"{loaded.title} is loaded. This ends its clients, then plays it again."
        dialog = YesNoDialog("Play again?", says, "play again")
        self.ask(dialog, lambda _yes: self._with_permission(port, start))

    def _join(self, mode: str) -> None:
        """Start a contender in the lock under the cursor, with a recipe that fits its layout."""
        port, path = self.contenders, self.selection.path
        if port is None:
            return
        key = self.key_of("new")
        if path is None:
            self.show_message(f"No lock under the cursor. Press {key} to start a demo client.")
            return
        layout, leases = self._layout_and_leases(path)
        recipe_and_mode = port.recipe_for(layout, mode)
        if recipe_and_mode is None:
            no_recipe = (
                f"No recipe can {VERBS[mode]} a lock of layout {layout}. {key} lists all recipes."
            )
            no_lock = f"There is no lock at {path} now. Press {key} to start a demo client."
            self.show_message(no_recipe if layout else no_lock)
            return
        recipe, recipe_mode = recipe_and_mode
        order = _order(recipe, path, recipe_mode, leases)
        self._with_permission(port, lambda: self._start(port, [order]))

    def _start(self, port: ContendersPort, orders: Sequence[ContenderOrder]) -> None:
        """Start contenders. For a lock outside the demo root, ask each time."""
        path = orders[0].claims[0].path
        word = port.permission.word_for(path)
        clients = f"{len(orders)} demo clients" if len(orders) > 1 else "a demo client"

        def start(typed: str | None) -> None:
            self.show_message(f"Starting {clients} for {path}.")
            for order in orders:
                port.start(order, typed)

        if word is None:
            start(None)
            return
        question = (
            f"{path} on {port.hosts} is not below {port.root}: real programs may use this "
            f"lock. Starting {clients} there creates znodes in it and may keep others waiting."
        )
        self.ask(ConfirmDialog(f"Outside {port.root}", question, word), start)

    def _act(self, action: ContenderAction) -> None:
        port = self.contenders
        if port is None:
            return
        selection = self.page.subject if self.page is not None else Selection()
        contender = chosen(port.states, selection, action)
        if contender is None:
            name, key = selection.contender, self.key_of("new")
            has_ended = f"{name} has ended. Press {key} to start another one."
            none_here = f"No demo client here. Press {key} to start one."
            self.show_message(has_ended if name else none_here)
            return
        if action == "freeze" and contender.state == "frozen":
            action = "thaw"
        port.act(action, contender.name)
        logs = self.page.query(LogPanel) if self.page is not None else ()
        if not any(log.display for log in logs):  # a visible log says it
            self.show_message(DONE[action].format(contender.name))

    def _layout_and_leases(self, path: str) -> tuple[str, int]:
        """Return the layout of a lock and its number of leases; "" and 1 if they are unknown."""
        report = self.view_state.report
        view = report.view(path) if report else None
        return (view.lock.layout, view.lock.leases or 1) if view else ("", 1)


def _order(recipe: str, path: str, mode: Mode | None = None, leases: int = 1) -> ContenderOrder:
    return ContenderOrder(recipe, (LockClaim(recipe, path, mode, leases=leases),))


def chosen(
    states: Sequence[ContenderState], selection: Selection, action: ContenderAction
) -> ContenderState | None:
    """Return the contender that an action applies to."""
    running = [state for state in states if not state.is_gone]
    if selection.contender:
        return next((state for state in running if state.name == selection.contender), None)
    if selection.session:
        return next((state for state in running if state.session == selection.session), None)
    here = [state for state in running if selection.path in (state.path, *state.holds)]
    roles = [_role(state, selection.path) for state in here]
    preference = (*PREFERRED_ROLES[action], *roles)  # any other role comes last
    return min(
        here, key=lambda state: preference.index(_role(state, selection.path)), default=None
    )


def _role(contender: ContenderState, path: str | None) -> str:
    """Return what a contender does in this lock: it may hold one lock and wait for another."""
    return "holds" if path in contender.holds else contender.activity
