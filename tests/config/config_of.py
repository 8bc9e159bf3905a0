"""The config of one file."""

from pathlib import Path

from zktop.config.join_sources import effective_config
from zktop.config.keys_and_defaults import Config
from zktop.config.overrides import COMMAND_LINE, Override, Overrides
from zktop.config.tree import ValueOrigin


def config_of(file: Path | str) -> Config:
    """The config of this file alone, without the environment."""
    only = Overrides(file=Override("config", (str(file),), ValueOrigin(COMMAND_LINE)))
    return effective_config(only, {}).config
