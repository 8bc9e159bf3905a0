"""The alert rules of docs/monitoring: each fires in a situation that has it, and none in health.

The series are what zktop prints in that situation; promtool continues them for an hour and a half.
"""

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import yaml
from model.findings.cases import facts as children
from model.findings.cases import k
from model.make_facts import ZK1, connections, expiry, figures, kazoo_name, no_watches, out, own
from output.metrics.scrapes import Scrape, last, of_recording, scrapes
from output.stories import LATER, facts, tables
from prometheus_programs import ALERTS, promtool

from zktop.model.facts import AnyFact, Children, Gone, NodeBatch, Stat, join
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.model.text import Text

pytestmark = pytest.mark.prometheus

MINUTES = 90
MINUTE = 60_000
HEALTHY = "X x: A B ; Y x: C"
FOLDERS = 10_001
RULES = {
    rule["alert"]: rule
    for rule in yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"]
}

Situation = tuple[Scrape, Scrape]  # at its beginning, and one minute later


def all_tables(at: int) -> list[AnyFact]:
    """What a healthy server shows of A, B and C."""
    watched = {"B": (f"/locks/x/{kazoo_name('A0', 0)}",)}
    timeouts = expiry(ZK1, dict.fromkeys("ABC", 8_000), at=at)
    return [*tables("ABC", watched, at), figures(ZK1, watches=1), timeouts]


def healthy() -> Situation:
    """Nothing is wrong."""
    found = [*facts(HEALTHY), *all_tables(LATER)]
    first, second = scrapes((LATER, found), (LATER + MINUTE, all_tables(LATER + MINUTE)))
    return first, second


def lasting(scrape: Scrape) -> Situation:
    """Nothing changes."""
    return scrape, scrape


def crowd() -> Situation:
    """A hundred and one clients wait for one lock."""
    story = "X x: " + " ".join(f"C{number}" for number in range(102))
    first, second = scrapes((LATER, facts(story)), (LATER + MINUTE, []))
    return first, second


def long_wait() -> Situation:
    """Within a minute a client gets a lock for which it waited a hundred seconds."""
    gone = Gone(path=join("/locks/x", kazoo_name("A0", 0)), zxid=300, at=LATER)
    first, *_, second = scrapes(
        (LATER - 101_000, facts("X x: A")),
        (LATER - 100_000, facts("X x: A B")),
        (LATER, [gone]),
    )
    return first, second


def expiries() -> Situation:
    """Ten sessions end at once, and no server has a connection of them."""
    names = [f"C{number}" for number in range(10)]
    story = " ; ".join(f"L{name} x: {name}" for name in names)
    gone = [
        Gone(path=join(f"/locks/l{name.lower()}", kazoo_name(f"{name}0", 0)), zxid=300, at=LATER)
        for name in names
    ]
    first, second = scrapes(
        (LATER, [*facts(story), connections(ZK1, at=LATER), expiry(ZK1, {"Z": 500}, at=LATER)]),
        (LATER + 1_000, gone),
    )
    return first, second


def used_up() -> Situation:
    """A lock whose sequence counter is near its end."""
    return lasting(last((LATER, children(k("A", 0), stat=counted(2**31 - 10_000_000)))))


def leak() -> Situation:
    """A parent full of unused lock folders."""
    names = tuple(Text(f"order-{number}x") for number in range(FOLDERS))
    parent = Stat(10, 10, 0, cversion=FOLDERS, num_children=FOLDERS, pzxid=90)
    found = [
        own(),
        Children(path=Text("/locks"), names=names, stat=parent, zxid=100, at=LATER),
        NodeBatch(
            path=Text("/locks"),
            names=names,
            stats=(Stat(20, 20, 0),) * FOLDERS,
            data=(b"",) * FOLDERS,
            zxid=100,
            at=LATER,
        ),
    ]
    return lasting(last((LATER, found), judged_by=Settings(roots=(Root("/locks/*"),))))


def unseen() -> Situation:
    """The root's counters show clients that came and went between two looks."""
    root = Children(
        path=Text("/locks/x"), names=(kazoo_name("A0", 0),), stat=counted(9), zxid=400, at=LATER
    )
    return lasting(last((LATER, facts("X x: A")), (LATER + 1_000, [root])))


def counted(creates: int) -> Stat:
    """The counters of a lock with one member, after so many creations."""
    return Stat(10, 10, 0, cversion=2 * creates - 1, num_children=1, pzxid=400)


def down() -> Situation:
    """A server refuses connections."""
    return lasting(last((LATER, [*facts(HEALTHY), out(ZK1, "down")])))


SITUATIONS: dict[str, Callable[[], Situation]] = {
    "LockDeadlock": lambda: lasting(of_recording("+30s")),
    "LockDeadlockLikely": lambda: lasting(of_recording("+17500ms")),
    "LockFindingCritical": lambda: lasting(
        last((LATER, children(k("A", 0, by=""), k("B", 1))), (LATER + 2 * MINUTE, []))
    ),
    "LockFindingWarning": down,
    "LockQueueLong": crowd,
    "LockWaitingMuch": crowd,
    "LockWaitSlow": long_wait,
    "LockSequenceNumbersLow": used_up,
    "LockFoldersLeak": leak,
    "LockSessionsExpire": expiries,
    "ZooKeeperServerDown": down,
    "ZktopDisconnected": lambda: lasting(
        last((LATER, facts(HEALTHY)), (LATER + MINUTE, [own(state="lost", at=LATER)]))
    ),
    "ZktopAbsent": lambda: ({}, {}),
    "ZktopBlind": lambda: lasting(last((LATER, [*facts(HEALTHY), no_watches(ZK1)]))),
    "ZktopMissesChanges": unseen,
}


@cache
def situation(name: str) -> Situation:
    """The situation of a rule."""
    return SITUATIONS[name]()


def test_every_rule_has_a_situation() -> None:
    """A new rule needs one."""
    assert SITUATIONS.keys() == RULES.keys()


def test_each_rule_fires_in_its_situation_and_none_in_health(tmp_path: Path) -> None:
    """At the end of that time."""
    groups = [
        group(
            situation(name),
            f'count(ALERTS{{alertname="{name}", alertstate="firing"}}) > bool 0',
            1,
        )
        for name in SITUATIONS
    ]
    groups.append(group(healthy(), "count(ALERTS)", None))
    tests = {"rule_files": [str(ALERTS)], "evaluation_interval": "5m", "tests": groups}
    file = tmp_path / "tests.yml"
    file.write_text(json.dumps(tests), encoding="utf-8")

    promtool("test", "rules", str(file))


def group(series: Situation, query: str, expected: int | None) -> dict[str, object]:
    """A group of promtool's tests: these series, and the answer to a query at their end."""
    first, second = series
    samples = [] if expected is None else [{"labels": "{}", "value": expected}]
    return {
        "interval": "1m",
        "input_series": [
            {"series": name, "values": continued(name, first.get(name, value), value)}
            for name, value in second.items()
        ],
        "promql_expr_test": [
            {"expr": query, "eval_time": f"{MINUTES}m", "exp_samples": samples},
        ],
    }


def continued(name: str, first: float, second: float) -> str:
    """A counter grows on; anything else keeps its last value."""
    is_counter = re.match(r"\w+_(total|bucket|sum|count)\b", name)
    start, step = (first, second - first) if is_counter else (second, 0.0)
    return f"{start}+{step}x{MINUTES}"


@pytest.mark.parametrize("name", RULES)
def test_sentences_name_labels_that_exist(name: str) -> None:
    """A label that the series lack would leave a gap in the sentence."""
    expression, sentences = RULES[name]["expr"], str(RULES[name]["annotations"])
    kept = re.search(r"by \(([^)]*)\)", expression)
    metric = re.search(r"zktop_\w+", expression)
    assert metric
    series = next((one for one in situation(name)[1] if metric[0] in one), "")
    labels = kept[1].split(", ") if kept else re.findall(r"(\w+)=", series)

    assert set(re.findall(r"\$labels\.(\w+)", sentences)) <= set(labels)


def test_promtool_accepts_the_rules() -> None:
    """Their syntax, and their templates."""
    promtool("check", "rules", str(ALERTS))
