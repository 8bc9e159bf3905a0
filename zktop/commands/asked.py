"""What was asked for by the options of a command, as the config takes it."""

from collections.abc import Iterator
from typing import Any

import click
from click.core import ParameterSource
from msgspec.structs import replace

from zktop.commands.connection import (
    CLUSTER,
    CONFIG,
    INTROSPECT,
    LARGE_TABLES,
    LAYOUT,
    SASL,
    Option,
)
from zktop.config.asked import COMMAND_LINE, Asked, Given
from zktop.config.tree import Origin


def asked(context: click.Context, values: list[tuple[Option, Any]]) -> Asked:
    """Give what these options of a command say, with the values that click read."""
    given = {
        option: Given(option.key, _texts(option, value), _origin(context, option), option.many)
        for option, value in values
        if value not in (None, (), False)
    }
    file, cluster, layouts = (given.pop(option, None) for option in (CONFIG, CLUSTER, LAYOUT))
    sasl = given.pop(SASL, None)
    if INTROSPECT in given and LARGE_TABLES in given:  # auto and more is more; off stays off
        given.pop(INTROSPECT if given[INTROSPECT].texts == ("auto",) else LARGE_TABLES)
    parts = _sasl(sasl) if sasl else ()
    return Asked(file, cluster, layouts, (*given.values(), *parts)).over(Asked())


def _texts(option: Option, value: Any) -> tuple[str, ...]:
    if option.means is not None:
        return (option.means,)
    return value if option.many else (value,)


def _origin(context: click.Context, option: Option) -> Origin:
    if context.get_parameter_source(option.parameter) is ParameterSource.ENVIRONMENT:
        return Origin(f"environment {option.env}", option=option.env)
    return Origin(COMMAND_LINE, option=option.flag)


def _sasl(given: Given) -> Iterator[Given]:
    names = ("mechanism", "username", "password")
    for name, text in zip(names, given.texts[-1].split(":", 2), strict=False):
        yield replace(given, key=f"sasl.{name}", texts=(text,))
