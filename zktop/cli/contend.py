"""`zktop contend`: one demo contender, or several, in this terminal, telling every step."""

import os
import sys
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any, Final, get_args

import click

from zktop.app.connect import demo_connection
from zktop.cli.options import DURATION, Wanted, connection_options
from zktop.cli.output import put
from zktop.config.types import Config
from zktop.demo.__main__ import run_contender
from zktop.demo.log import ContenderLog
from zktop.demo.messages import OnStep
from zktop.demo.processes import ContenderChange, ProcessPool
from zktop.demo.recipes import RECIPES, Recipe
from zktop.demo_types import ContenderOrder, ContenderStep, LockClaim, Mode, WorkStyle
from zktop.errors import ExitCode
from zktop.model.facts import Millis
from zktop.model.settings import SECOND

REST_S: Final = 0.2
_LISTED = "\n".join(f"  {recipe.name:<15} {recipe.brief}" for recipe in RECIPES)
_EXAMPLES = f"""\b
Recipes; --list tells more, and which flaws each of them has:
{_LISTED}

\b
Examples:
  zktop contend get-watch /zktop-demo/lockKey_7 --id one --hold 13s
  zktop contend get-watch /zktop-demo/lockKey_7 --id two --timeout 20s
  zktop contend predecessor /zktop-demo/Mutex --work oversleep --sleep 30s
  zktop contend kazoo-lock /zktop-demo/lock --count 5 --hold 2s
"""
OVERSLEEPS = 3  # session time-outs, when nothing else is asked for
WIDTH = 79


def _list(context: click.Context, _option: click.Parameter, is_asked: bool) -> None:  # noqa: FBT001  click's form
    """Tell about every recipe, and end."""
    if is_asked:
        for recipe in RECIPES:
            for line in _told(recipe):
                put(line)
        context.exit()


def _told(recipe: type[Recipe]) -> list[str]:
    """Tell what a recipe does, whose it is, and what can be wrong with it."""
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
    help="Tell about all recipes, and end.",
)
@click.argument("recipe", type=click.Choice([recipe.name for recipe in RECIPES]), metavar="RECIPE")
@click.argument("path")
@click.option("--mode", type=click.Choice(get_args(Mode)), help="What to ask for.")
@click.option("--id", "name", metavar="ID", help="Who contends; host and process if not given.")
@click.option("--hold", type=DURATION, help="Work this long; until ctrl-c if not given.")
@click.option("--timeout", type=DURATION, help="Give up waiting after this.")
@click.option("--count", type=click.IntRange(1, 64), default=1, help="So many contenders at once.")
@click.option("--rounds", type=click.IntRange(0), default=1, help="How often; 0 is for ever.")
@click.option("--leases", type=click.IntRange(1), default=1, help="Of a semaphore.")
@click.option("--flaw", metavar="NAME", help="A mistake that was made in real life.")
@click.option(
    "--work",
    type=click.Choice(get_args(WorkStyle)),
    default="hold",
    help="What it does with the lock; raise, die, never: when --hold is over.",
)
@click.option(
    "--sleep", type=DURATION, help="How long oversleep stands still; 3 sessions if not given."
)
@click.option("--anywhere", is_flag=True, help="Write outside the demo root, too.")
@click.option("--json", "as_json", is_flag=True, help="Tell every step as a line of JSON.")
@connection_options
def command(wanted: Wanted, name: str | None, count: int, *, as_json: bool, **asked: Any) -> int:
    """Contend for the lock at PATH as RECIPE does, and tell every step.

    ctrl-c gives the lock back. The exit code is 0 when the lock was had, 1 when it was not.
    """
    config = wanted.effective().config
    own = name or f"{os.uname().nodename}-{os.getpid()}"
    names = [own] if count == 1 else [f"{own}-{number}" for number in range(1, count + 1)]
    orders = [_order(each, config, asked) for each in names]
    say = _say_json if as_json else _say
    if count > 1:
        return _contend_together(orders, say, config.demo.max_contenders)
    code = run_contender(orders[0], say)
    sys.stdout.flush()
    os._exit(code)  # kazoo's threads may still be trying to reach a server


def _order(name: str, config: Config, asked: Mapping[str, Any]) -> ContenderOrder:
    claim = LockClaim(
        asked["recipe"],
        asked["path"],
        asked["mode"],
        flaw=asked["flaw"],
        timeout_s=_seconds(asked["timeout"]),
        leases=asked["leases"],
    )
    connection = demo_connection(config)
    return ContenderOrder(
        name,
        (claim,),
        connection,
        work=asked["work"],
        sleep_s=_seconds(asked["sleep"]) or OVERSLEEPS * connection.session_timeout_s,
        hold_s=_seconds(asked["hold"]),
        rounds=asked["rounds"],
        root=config.demo.root,
        anywhere=asked["anywhere"],
    )


def _contend_together(orders: Sequence[ContenderOrder], say: OnStep, cap: int) -> int:
    """Run several contenders as processes; 0 when each of them had the lock."""
    log = ContenderLog()

    def on_change(change: ContenderChange) -> None:
        log.add(change)
        if change.step:
            say(change.step)

    with ProcessPool(on_change, cap) as pool:
        for order in orders:
            pool.start(order)
        names = {order.name for order in orders}
        while not log.until(lambda: names <= log.ended.keys(), REST_S):
            pass  # ctrl-c could not interrupt a wait without a time-out
    codes = {state.exit_code for state in log.ended.values()}
    return ExitCode.FINE if codes == {0} else ExitCode.FINDINGS


def _seconds(time: Millis | None) -> float | None:
    return None if time is None else time / SECOND


def _say(step: ContenderStep) -> None:
    put(step.line())
    sys.stdout.flush()


def _say_json(step: ContenderStep) -> None:
    put(step.json())
    sys.stdout.flush()
