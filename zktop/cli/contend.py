"""`zktop contend`: run one demo contender, or several, and print every step."""

import os
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any, Final, get_args

import click

from zktop.app.connection_settings import demo_connection
from zktop.cli.common.interrupts import signals_as_ctrl_c
from zktop.cli.common.options import SECONDS, connection_options
from zktop.cli.common.output import narrate, put, put_at_once
from zktop.config.join_sources import EffectiveConfig, effective_config
from zktop.config.keys_and_defaults import Config
from zktop.config.overrides import Overrides
from zktop.demo.__main__ import run_contender
from zktop.demo.contender_processes import ContenderChange, ProcessPool
from zktop.demo.contender_tally import ContenderTally
from zktop.demo.recipes import RECIPES, Recipe
from zktop.demo.step_reporter import OnStep
from zktop.demo_types.contender_order import (
    OVERSLEEP_SESSIONS,
    ContenderOrder,
    LockClaim,
    Mode,
    WorkStyle,
)
from zktop.demo_types.contender_state import ContenderStep
from zktop.errors import ExitCode, UsageError

WAIT_S: Final = 0.2  # a wait without a timeout cannot be interrupted
_LISTED = "\n".join(f"  {recipe.name:<15} {recipe.brief}" for recipe in RECIPES)
_EXAMPLES = f"""\b
Recipes; --list describes them and their flaws:
{_LISTED}

\b
Examples:
  zktop contend get-watch /zktop-demo/lockKey_7 --id one --hold 13s
  zktop contend get-watch /zktop-demo/lockKey_7 --id two --timeout 20s
  zktop contend predecessor /zktop-demo/Mutex --work oversleep --sleep 30s
  zktop contend kazoo-lock /zktop-demo/lock --count 5 --hold 2s
"""
WIDTH = 79


def _list(context: click.Context, _option: click.Parameter, is_asked: bool) -> None:  # noqa: FBT001  click's signature
    if is_asked:
        for recipe in RECIPES:
            for line in _description(recipe):
                put(line)
        context.exit()


def _description(recipe: type[Recipe]) -> list[str]:
    """Describe a recipe: its origin, behaviour, modes and flaws."""
    lines = [recipe.info().story, f"Modes: {', '.join(recipe.modes)}."]
    lines += [f"BROKEN: {recipe.broken}."] if recipe.broken else []
    lines += [f"--flaw {flaw.name}: {flaw.does}." for flaw in recipe.flaws]
    indented = (fill(line, WIDTH, initial_indent="  ", subsequent_indent="    ") for line in lines)
    return [f"{recipe.name}: {recipe.source}", *"\n".join(indented).splitlines(), ""]


@click.command("contend", epilog=_EXAMPLES)
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list,
    help="Describe all recipes and exit.",
)
@click.argument("recipe", type=click.Choice([recipe.name for recipe in RECIPES]), metavar="RECIPE")
@click.argument("path")
@click.option(
    "--mode", type=click.Choice(get_args(Mode)), help="Lock mode; default: the recipe's first."
)
@click.option("--id", "name", metavar="ID", help="Name of the client; default: host and process.")
@click.option("--hold", type=SECONDS, help="Hold the lock this long; default: until ctrl-c.")
@click.option("--timeout", type=SECONDS, help="Stop waiting after this time.")
@click.option("--count", type=click.IntRange(1, 64), default=1, help="Number of demo clients.")
@click.option(
    "--rounds", type=click.IntRange(0), default=1, help="Number of rounds; 0 is forever."
)
@click.option("--leases", type=click.IntRange(1), default=1, help="Leases of a semaphore.")
@click.option("--flaw", metavar="NAME", help="A mistake seen in real clients; see --list.")
@click.option(
    "--work",
    type=click.Choice(get_args(WorkStyle)),
    default="hold",
    help="What to do with the lock; raise, die and never act after --hold.",
)
@click.option(
    "--sleep", type=SECONDS, help="How long oversleep sleeps; default: 3 session timeouts."
)
@click.option("--anywhere", is_flag=True, help="Also write outside the demo root.")
@click.option("--json", "as_json", is_flag=True, help="Print every step as a line of JSON.")
@connection_options
def command(
    overrides: Overrides, name: str | None, count: int, *, as_json: bool, **options: Any
) -> int:
    """Contend for the lock at PATH as RECIPE does, and print every step.

    ctrl-c releases the lock. The exit code is 0 if the lock was acquired, 1 if it was not or
    the work failed, 130 on ctrl-c.
    """
    effective = effective_config(overrides)
    check_permission(effective)
    config = effective.config
    base_name = name or f"{os.uname().nodename}-{os.getpid()}"
    names = [base_name]
    if count > 1:
        names = [f"{base_name}-{number}" for number in range(1, count + 1)]
    orders = [_order(contender, config, options) for contender in names]

    def on_step(step: ContenderStep) -> None:
        put_at_once(step.json() if as_json else step.line())

    with signals_as_ctrl_c():
        if count > 1:
            return _contend_together(orders, on_step, config.demo.max_contenders)
        return run_contender(orders[0], on_step)


def check_permission(effective: EffectiveConfig) -> None:
    """Refuse to start demo clients if the settings forbid it."""
    if effective.config.demo.allow == "never":
        raise UsageError(
            f"demo.allow is never ({effective.origin('demo.allow')}), which forbids demo clients."
        )


def _order(name: str, config: Config, options: Mapping[str, Any]) -> ContenderOrder:
    claim = LockClaim(
        options["recipe"],
        options["path"],
        options["mode"],
        flaw=options["flaw"],
        timeout_s=options["timeout"],
        leases=options["leases"],
    )
    connection = demo_connection(config)
    return ContenderOrder(
        name,
        (claim,),
        connection,
        work=options["work"],
        sleep_s=options["sleep"] or OVERSLEEP_SESSIONS * connection.session_timeout_s,
        hold_s=options["hold"],
        rounds=options["rounds"],
        root=config.demo.root,
        anywhere=options["anywhere"],
    )


def _contend_together(
    orders: Sequence[ContenderOrder], on_step: OnStep, max_contenders: int
) -> int:
    """Run each contender as a process. Return their exit code if all have the same, else 1."""
    tally = ContenderTally()
    failures: list[OSError] = []  # raised while writing the output

    def on_change(change: ContenderChange) -> None:
        tally.add(change)
        if change.state.exit_code and change.state.last_words:
            narrate(f"{change.state.name}: {change.state.last_words}")
        if change.step and not failures:
            try:
                on_step(change.step)
            except OSError as failure:  # the pool's thread must keep running
                failures.append(failure)
                tally.wake()

    with ProcessPool(on_change, max_contenders) as pool:
        for order in orders:
            pool.start(order)
        names = {order.name for order in orders}
        while not tally.until(lambda: bool(failures) or names <= tally.ended.keys(), WAIT_S):
            pass
    if failures:
        raise failures[0]
    codes = {state.exit_code for state in tally.ended.values()}
    code = codes.pop() if len(codes) == 1 else None
    return ExitCode.FINDINGS if code is None or code < 0 else code
