"""All mistakes of one config file, those of the UI's keys, commands and theme included."""

import os
from collections.abc import Callable, Mapping

from zktop.app.ui_settings import ui_settings
from zktop.config.join_sources import cluster_configs, effective_config, load_sections
from zktop.config.mistakes import ConfigError, ConfigMistake
from zktop.config.overrides import COMMAND_LINE, Override, Overrides
from zktop.config.tree import ValueOrigin

_UI_SECTIONS = frozenset({"ui", "commands"})


def config_file_mistakes(
    file: str, environment: Mapping[str, str] = os.environ
) -> tuple[ConfigMistake, ...]:
    """Return every mistake of a config file, by line.

    The UI checks its own sections only if the rest is right. Here they are read once more,
    without the keys that are wrong, so that a mistake elsewhere does not hide theirs.
    """
    only = Overrides(file=Override("config", (file,), ValueOrigin(COMMAND_LINE)))
    found = _mistakes(lambda: effective_config(only, environment))
    found += _mistakes(lambda: cluster_configs(only, environment))
    wrong = frozenset(mistake.key.partition("[")[0] for mistake in found)
    found += _mistakes(
        lambda: ui_settings(load_sections(file, _UI_SECTIONS, wrong, environment), environment)
    )
    return ConfigError(found).mistakes


def _mistakes(check: Callable[[], object]) -> list[ConfigMistake]:
    try:
        check()
    except ConfigError as error:
        return [*error.mistakes]
    return []
