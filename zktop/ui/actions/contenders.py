"""What has contenders of ours do something; nothing else here ever writes to ZooKeeper.

The first key of a session that would write asks for permission, and the stage refuses without it.
What acts on a contender acts on the one under the cursor; where a lock is under the cursor, on
the contender of ours in it that the deed makes most sense for.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from zktop.ui.dialogs.choice import ChoiceDialog, Choosable
from zktop.ui.dialogs.confirm import ConfirmDialog
from zktop.ui.dialogs.new_contender import NewContender
from zktop.ui.keys import DEMO
from zktop.ui.ports import ContenderAction, ContendersPort, Hand, SceneCard, Wish
from zktop.ui.state import Selection

if TYPE_CHECKING:
    from zktop.ui.app import Zktop

RECORDING: Final = "Contenders need a live ensemble: this is a recording."
READ_ONLY: Final = "This is read-only: zktop starts no contenders (--read-only, or demo.allow)."
NOBODY = "No contender of ours is here. N starts one."
SAYS: Final = {"read": "read", "write": "write", "exclusive": "own"}
FIRST: Final[dict[ContenderAction, tuple[str, ...]]] = {  # in which state it is most likely meant
    "release": ("holds",),
    "cancel": ("waits",),
    "kill": ("holds", "waits"),
    "freeze": ("holds", "waits"),
    "thaw": ("frozen",),
}


def _with_stage(deed: "Callable[[Zktop, ContendersPort], None]", app: "Zktop") -> None:
    if app.stage is None:
        app.tell(why_none(app))
    else:
        deed(app, app.stage)


def why_none(app: "Zktop") -> str:
    """Say why there are no contenders in this session."""
    return READ_ONLY if app.feed.is_live else RECORDING


def allowed(app: "Zktop", stage: ContendersPort, deed: Callable[[], None]) -> None:
    """Do what writes below the demo root; the first one in a session only after a question."""
    permission = stage.permission
    if permission.is_given:
        deed()
        return

    def answered(typed: str | None) -> None:
        if typed is not None and permission.give(typed):
            deed()

    question = (
        f"zktop's contenders are real ZooKeeper clients. They create and delete znodes "
        f"on {stage.hosts}, below {stage.root}. You are asked this once; "
        f"a lock outside {stage.root} is asked about each time."
    )
    app.push_screen(ConfirmDialog(f"Write to {stage.hosts}?", question, permission.word), answered)


def play(app: "Zktop", scene: str, *, steps: bool = False) -> None:
    """Play a scene, or one move of it, on screen 6."""
    stage = app.stage
    if stage is None:
        return

    def deed() -> None:
        stage.put_on(scene, paused=steps)
        if steps:
            stage.steer("step")
        if app.page is None or app.page.NAME != DEMO:
            app.turn_to(DEMO)

    allowed(app, stage, deed)


def _new(app: "Zktop", stage: ContendersPort) -> None:
    allowed(app, stage, lambda: _order(app, stage))


def _order(app: "Zktop", stage: ContendersPort) -> None:
    """Have the user fill in what contender it shall be."""
    path = app.pointed.path
    first = Wish(stage.recipes[0].name, path or f"{stage.root}/lock")
    recipe = app.page.recipe if app.page is not None else None
    if recipe is not None:
        first = Wish(recipe, f"{stage.root}/lock")
    elif path is not None:
        joined = stage.recipe_for(_layout(app, path), "exclusive")
        first = Wish(joined[0], path, joined[1]) if joined else first

    def filled_in(wish: Wish | None) -> None:
        if wish is not None:
            _spawn(app, stage, wish)

    app.push_screen(NewContender(stage.recipes, first), filled_in)


def _more(mode: str, app: "Zktop", stage: ContendersPort) -> None:
    """Send one more into the lock under the cursor, by a recipe that fits in."""
    path = app.pointed.path
    if path is None:
        app.tell("There is no lock under the cursor. N starts a contender anywhere.")
        return
    layout = _layout(app, path)
    recipe = stage.recipe_for(layout, mode)
    if recipe is None:
        none = f"None of our recipes joins a {layout} to {SAYS[mode]} it. N lists all."
        gone = f"There is no lock at {path} now. N starts a contender anywhere."
        app.tell(none if layout else gone)
        return
    wish = Wish(recipe[0], path, recipe[1])
    allowed(app, stage, lambda: _spawn(app, stage, wish))


def _spawn(app: "Zktop", stage: ContendersPort, wish: Wish) -> None:
    """Start contenders; a lock outside the demo root is asked about each time."""
    word = stage.permission.word_for(wish.path)
    many = f"{wish.count} contenders" if wish.count > 1 else "a contender"

    def start(typed: str | None) -> None:
        app.tell(f"Starting {many} for {wish.path}.")
        stage.spawn(wish, typed)

    def answered(typed: str | None) -> None:
        if typed is not None:
            start(typed)

    if word is None:
        start(None)
        return
    question = (
        f"{wish.path} on {stage.hosts} is not below {stage.root}: real programs may use this "
        f"lock. Starting {many} there creates znodes in it and may keep others waiting."
    )
    app.push_screen(ConfirmDialog(f"Outside {stage.root}", question, word), answered)


def _act(act: ContenderAction, app: "Zktop", stage: ContendersPort) -> None:
    hand = chosen(stage.hands, app.pointed, act)
    if hand is None:
        name = app.pointed.hand
        app.tell(f"{name} is gone. N starts another one." if name else NOBODY)
    elif act == "freeze" and hand.state == "frozen":
        stage.act("thaw", hand.name)
    else:
        stage.act(act, hand.name)


def chosen(hands: Sequence[Hand], subject: Selection, act: ContenderAction) -> Hand | None:
    """Find the contender of ours that is meant."""
    living = [hand for hand in hands if not hand.is_gone]
    if subject.hand:
        return next((hand for hand in living if hand.name == subject.hand), None)
    if subject.session:
        return next((hand for hand in living if hand.session == subject.session), None)
    here = [hand for hand in living if subject.path in (hand.path, *hand.holds)]
    states = (*FIRST[act], *(hand.state for hand in here))
    return min(here, key=lambda hand: states.index(hand.state), default=None)


def _scene(app: "Zktop", stage: ContendersPort) -> None:
    options = [Choosable(one.name, one.title, _about(one)) for one in stage.scenes]
    on = stage.showing.scene

    def chosen_one(name: str | None) -> None:
        if name is not None:
            play(app, name)

    def choose() -> None:
        app.push_screen(ChoiceDialog("Play a scene", options, on.name if on else None), chosen_one)

    allowed(app, stage, choose)


def _about(scene: SceneCard) -> tuple[str, ...]:
    return (scene.teaches, f"Look at: {scene.look_at}")


def _layout(app: "Zktop", path: str) -> str:
    frame = app.moment.frame
    view = frame.report.view(path) if frame else None
    return view.lock.layout if view else ""


ACTIONS: "Final[dict[str, Callable[[Zktop], None]]]" = {
    "new": partial(_with_stage, _new),
    "new_reader": partial(_with_stage, partial(_more, "read")),
    "new_writer": partial(_with_stage, partial(_more, "write")),
    "new_exclusive": partial(_with_stage, partial(_more, "exclusive")),
    "release": partial(_with_stage, partial(_act, "release")),
    "cancel": partial(_with_stage, partial(_act, "cancel")),
    "kill": partial(_with_stage, partial(_act, "kill")),
    "freeze": partial(_with_stage, partial(_act, "freeze")),
    "scene": partial(_with_stage, _scene),
}
