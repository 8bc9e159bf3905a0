"""Lessons, and the counts of a scene that they are about."""

from typing import Literal

from msgspec import Struct


class LessonPart(Struct, frozen=True):
    """A scene of a lesson, and the counts expected at its end."""

    scene: str
    counted: str  # as a sentence of screen 6


class Lesson(Struct, frozen=True):
    """One or two scenes with a question, whose answer is hidden until the user asks for it."""

    title: str
    about: str
    parts: tuple[LessonPart, ...]
    question: str
    answer: str
    look_at: tuple[str, str, str, str, str]  # what each of screens 1 to 5 shows of it


DepartureKind = Literal["released", "left", "died"]  # left: it was only waiting


class DemoDeparture(Struct, frozen=True):
    """A client that left a lock, and the clients that its departure woke."""

    contender: str
    lock: str
    how: DepartureKind
    woken: tuple[str, ...] = ()
    went_on: tuple[str, ...] = ()  # the woken clients that then acquired the lock
    is_latest: bool = True  # no client has joined or left the lock since


class SceneCount(Struct, frozen=True):
    """The counts of the loaded scene."""

    departures: tuple[DemoDeparture, ...] = ()  # in order
    # By lock: the largest group of clients that believed at the same time that they held it.
    believers: dict[str, tuple[str, ...]] = {}
