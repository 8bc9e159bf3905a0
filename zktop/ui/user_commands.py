"""The user's own commands: their words with the selection filled in."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
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
_FIELD: Final = re.compile(r"\{(\w+)\}")
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
        filled_words = []
        for word in self.words:
            text = _FIELD.sub(partial(_value, values), word)
            if text.startswith("-") and not word.startswith("-"):
                raise ValueError(f"{text!r} would be read as an option")
            filled_words.append(text)
        return tuple(filled_words)


def _value(values: Mapping[str, str], match: re.Match[str]) -> str:
    field = match[1]
    value = values.get(field, match[0])
    if not value:
        raise ValueError(f"the {field} is not known here")
    return value


def command_actions(commands: Sequence[UserCommand]) -> tuple[Action, ...]:
    """Return the entries of these commands in the table of keys."""
    return tuple(
        Action(
            f"command_{number}",
            ",".join(textual_key(key.strip()) for key in command.key.split(",") if key.strip()),
            command.title,
            "commands",
            run=f"user_command({number})",
        )
        for number, command in enumerate(commands)
    )


def values_for(
    on: CommandSubject, selection: Selection, report: Report
) -> Mapping[str, str] | None:
    """Return the values of all fields, "" if unknown; None if nothing of the kind is selected."""
    if on == "lock":
        return _of_lock(selection.path, selection.node) if selection.path else None
    if on == "session":
        return _of_session(selection.session, selection, report) if selection.session else None
    deadlock = report.deadlock(selection.case)
    if deadlock is None and len(report.deadlocks) == 1:
        deadlock = report.deadlocks[0]
    if deadlock is None:
        return None
    actor = deadlock.ways_out[0].actor if deadlock.ways_out else ""
    waits = next((step.waits for step in deadlock.steps if step.actor == actor), None)
    place = Selection(path=waits.lock, node=waits.node) if waits else Selection()
    return _of_session(session_of(actor), place, report)


def _of_lock(path: str | None, node: str | None) -> dict[str, str]:
    return {"path": path or "", "node": node or ""}


def _of_session(session: Session | None, selection: Selection, report: Report) -> dict[str, str]:
    presence = None if session is None else report.ensemble.presence(session)
    host, _, port = (presence.client if presence else "").rpartition(":")
    return {
        "session": "" if session is None else session_text(session),
        "host": host.strip("[]"),
        "port": port,
        **_of_lock(selection.path, selection.node),
    }
