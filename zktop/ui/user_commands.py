"""The user's own commands: their words with the selection filled in."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from zktop.model.actors import session_of
from zktop.model.facts import Session
from zktop.model.report import Report
from zktop.model.session_ids import session_text
from zktop.ui.keys import Action, textual_key
from zktop.ui.view_state import Selection

CommandSubject = Literal["session", "lock", "deadlock"]
LOCK_FIELDS: Final = ("path", "node")
FIELDS: Final[Mapping[CommandSubject, tuple[str, ...]]] = {
    "lock": LOCK_FIELDS,
    "session": ("session", "host", "port", *LOCK_FIELDS),
    "deadlock": ("session", "host", "port", *LOCK_FIELDS),
}
RunProgram = Callable[[Sequence[str], Callable[[str], None]], Awaitable[str]]
"""Runs a command, hands over each line of its output, and returns how it ended."""


class UserCommand(NamedTuple):
    """One command; `words` may contain {fields}."""

    key: str
    title: str
    words: tuple[str, ...]
    on: CommandSubject
    confirms: bool = True

    def filled(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """Fill in the fields. A value never becomes two words, nor an option.

        >>> UserCommand("f2", "Log", ("log", "--of={path}"), "lock").filled({"path": "/a b"})
        ('log', '--of=/a b')
        """
        made = []
        for word in self.words:
            text = word
            for field, value in values.items():
                if not value and f"{{{field}}}" in word:
                    raise ValueError(f"the {field} is not known here")
                text = text.replace(f"{{{field}}}", value)
            if text.startswith("-") and not word.startswith("-"):
                raise ValueError(f"{text!r} would be read as an option")
            made.append(text)
        return tuple(made)


def command_actions(commands: Sequence[UserCommand]) -> tuple[Action, ...]:
    """Return the entries of these commands in the table of keys."""
    return tuple(
        Action(
            f"command_{number}",
            ",".join(textual_key(key.strip()) for key in one.key.split(",") if key.strip()),
            one.title,
            "commands",
            run=f"user_command({number})",
        )
        for number, one in enumerate(commands)
    )


def values_for(
    on: CommandSubject, selection: Selection, report: Report
) -> Mapping[str, str] | None:
    """Return the values of all fields; None if nothing of that kind is selected."""
    if on == "lock":
        return _of_lock(selection.path, selection.node) if selection.path else None
    if on == "session":
        return _of_session(selection.session, selection, report) if selection.session else None
    dead = next((deadlock for deadlock in report.deadlocks if deadlock.id == selection.case), None)
    if dead is None and len(report.deadlocks) == 1:
        dead = report.deadlocks[0]
    if dead is None or not dead.ways_out:
        return None
    actor = dead.ways_out[0].actor
    step = next((one for one in dead.steps if one.actor == actor), None)
    session = session_of(actor)
    if step is None or session is None:
        return None
    place = Selection(path=step.waits.lock, node=step.waits.node)
    return _of_session(session, place, report)


def _of_lock(path: str | None, node: str | None) -> dict[str, str]:
    return {"path": path or "", "node": node or ""}


def _of_session(session: Session, selection: Selection, report: Report) -> dict[str, str]:
    presence = report.ensemble.presence(session)
    host, _, port = (presence.client if presence else "").rpartition(":")
    return {
        "session": session_text(session),
        "host": host.strip("[]"),
        "port": port,
        **_of_lock(selection.path, selection.node),
    }
