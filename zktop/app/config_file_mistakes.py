"""All mistakes of one config file, including those in the UI's keys, commands and theme."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count, islice

from msgspec.structs import replace

from zktop.app.ui_settings import ui_settings
from zktop.config.files import default_file, exists, expanded
from zktop.config.join_sources import cluster_configs, effective_config, load_sections
from zktop.config.mistakes import ConfigError, ConfigMistake
from zktop.config.overrides import COMMAND_LINE, Override, Overrides
from zktop.config.tree import ValueOrigin

_UI_SECTIONS = frozenset({"ui", "commands"})
_PLACE = re.compile(r"(?<=\])\..*")  # inside an item of a list
_COMMAND = re.compile(r"commands\[(\d+)\]")


def config_file_mistakes(
    file: str, environment: Mapping[str, str] = os.environ
) -> tuple[ConfigMistake, ...]:
    """Return every mistake of a config file, by line.

    The UI checks its own sections only if the rest is valid. They are read again here without
    the wrong keys and commands, so a mistake elsewhere does not hide theirs.
    """
    file_only = Overrides(file=Override("config", (file,), ValueOrigin(COMMAND_LINE)))
    mistakes = _mistakes(lambda: effective_config(file_only, environment))
    mistakes += _mistakes(lambda: cluster_configs(file_only, environment))
    wrong_keys = frozenset(_PLACE.sub("", mistake.key) for mistake in mistakes)
    of_ui = _mistakes(
        lambda: ui_settings(
            load_sections(file, _UI_SECTIONS, wrong_keys, environment), environment
        )
    )
    mistakes += [
        replace(mistake, key=_number_in_file(mistake.key, wrong_keys)) for mistake in of_ui
    ]
    return ConfigError(mistakes).mistakes


@contextmanager
def every_mistake(
    overrides: Overrides, environment: Mapping[str, str] = os.environ
) -> Iterator[None]:
    """Add all other mistakes of the file to a ConfigError, unless it is a pipe or missing."""
    try:
        yield
    except ConfigError as error:
        file = overrides.file or default_file(environment)
        is_file = file is not None and exists(expanded(file.texts[-1]).is_file)
        more = config_file_mistakes(file.texts[-1], environment) if file and is_file else ()
        raise ConfigError([*error.mistakes, *more]) from None


def _number_in_file(key: str, wrong_keys: frozenset[str]) -> str:
    """Return a command's key as numbered in the file, which also counts the wrong commands."""
    match = _COMMAND.match(key)
    if match is None:
        return key
    valid = (number for number in count() if f"commands[{number}]" not in wrong_keys)
    number = next(islice(valid, int(match[1]), None))
    return f"commands[{number}]{key[match.end() :]}"


def _mistakes(check: Callable[[], object]) -> list[ConfigMistake]:
    try:
        check()
    except ConfigError as error:
        return [*error.mistakes]
    return []
