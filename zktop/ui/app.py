"""The terminal UI: the shell, and the actions of its keys."""

from typing import ClassVar

from zktop.ui.actions.contenders import ContenderActions
from zktop.ui.actions.export import ExportActions
from zktop.ui.actions.time import TimeActions
from zktop.ui.actions.view import ViewActions
from zktop.ui.palette_search import PaletteProvider


class Zktop(ContenderActions, ExportActions, TimeActions, ViewActions):
    """Shows what a feed reports, one screen at a time."""

    COMMANDS: ClassVar = {PaletteProvider}
