"""What has contenders of ours do something; nothing else here ever writes to ZooKeeper.

What acts on a contender acts on the one under the cursor; where a lock is under the cursor, on
the contender of ours in it that the deed makes most sense for.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from zktop.ui.dialogs.choice import Choice, Option
from zktop.ui.dialogs.confirm import Confirm
from zktop.ui.dialogs.new import NewContender
from zktop.ui.moment import Subject
from zktop.ui.ports import Act, Hand, SceneCard, Stage, Wish

if TYPE_CHECKING:
    from zktop.ui.app import Zktop

NO_STAGE = "Contenders need a live ensemble: this is a recording."
NOBODY = "No contender of ours is here. N starts one."
SAYS: Final = {"read": "read", "write": "write", "exclusive": "own"}
FIRST: Final[dict[Act, tuple[str, ...]]] = {  # in which state it is most likely meant
    "release": ("holds",),
    "cancel": ("waits",),
    "kill": ("holds", "waits"),
    "freeze": ("holds", "waits"),
    "thaw": ("frozen",),
}


def _with_stage(deed: "Callable[[Zktop, Stage], None]", app: "Zktop") -> None:
    if app.stage is None:
        app.tell(NO_STAGE)
    else:
        deed(app, app.stage)


def _new(app: "Zktop", stage: Stage) -> None:
    path = app.pointed.path
    first = Wish(stage.recipes[0].name, path or f"{stage.root}/lock")
    recipe = app.page.recipe if app.page is not None else None
    if recipe is not None:
        first = Wish(recipe, f"{stage.root}/lock")
    elif path is not None:
        joined = stage.recipe_for(_layout(app, path), "exclusive")
        first = Wish(joined[0], path, joined[1]) if joined else first

    def spawn(wish: Wish | None) -> None:
        if wish is not None:
            _spawn(app, stage, wish)

    app.push_screen(NewContender(stage.recipes, first), spawn)


def _more(mode: str, app: "Zktop", stage: Stage) -> None:
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
    _spawn(app, stage, Wish(recipe[0], path, recipe[1]))


def _spawn(app: "Zktop", stage: Stage, wish: Wish) -> None:
    """Start contenders; outside the demo root only once somebody has agreed to it."""
    many = f"{wish.count} contenders" if wish.count > 1 else "a contender"
    if wish.path.startswith(stage.root.rstrip("/") + "/"):
        app.tell(f"Starting {many} for {wish.path}.")
        stage.spawn(wish)
        return

    def agreed(answer: bool | None) -> None:  # noqa: FBT001  the dialog's answer
        if answer:
            app.agreed_paths.add(wish.path)
            stage.spawn(wish, anywhere=True)

    if wish.path in app.agreed_paths:
        agreed(answer=True)
        return
    question = (
        f"{wish.path} is not below {stage.root}: real programs may use this lock.\n"
        f"Start {many} there, which writes to it and may keep others waiting?"
    )
    app.push_screen(Confirm("Outside the demo root", question), agreed)


def _act(act: Act, app: "Zktop", stage: Stage) -> None:
    hand = chosen(stage.hands, app.pointed, act)
    if hand is None:
        name = app.pointed.hand
        app.tell(f"{name} is gone. N starts another one." if name else NOBODY)
    elif act == "freeze" and hand.state == "frozen":
        stage.act("thaw", hand.name)
    else:
        stage.act(act, hand.name)


def chosen(hands: Sequence[Hand], subject: Subject, act: Act) -> Hand | None:
    """Find the contender of ours that is meant."""
    living = [hand for hand in hands if not hand.is_gone]
    if subject.hand:
        return next((hand for hand in living if hand.name == subject.hand), None)
    if subject.session:
        return next((hand for hand in living if hand.session == subject.session), None)
    here = [hand for hand in living if subject.path in (hand.path, *hand.holds)]
    states = (*FIRST[act], *(hand.state for hand in here))
    return min(here, key=lambda hand: states.index(hand.state), default=None)


def _scene(app: "Zktop", stage: Stage) -> None:
    options = [Option(one.name, one.title, _about(one)) for one in stage.scenes]
    on = stage.showing.scene

    def put_on(name: str | None) -> None:
        if name is not None:
            stage.put_on(name)
            app.turn_to("demo")

    app.push_screen(Choice("Play a scene", options, on.name if on else None), put_on)


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
