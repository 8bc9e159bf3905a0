"""The text of `zktop free`."""

from model.findings.cases import MINUTE, PATH, SECOND, facts, k, plain, watching
from model.make_facts import NOW, ZK1, connections, own, row, session, world

from zktop.model.examiner import Examiner
from zktop.model.facts import AnyFact, Stat
from zktop.model.freeing.commands_to_copy import ZkCli
from zktop.model.freeing.deeds import Deed
from zktop.model.freeing.free_plan import free_plan
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.output.ways_to_free import free_json, free_lines, freed_json, not_freed

BILLING = "/locks/billing"
MASTER = "/locks/master-lock"
SINGLE = facts(path=MASTER, stat=Stat(50, 50, NOW, owner=session("ann")))
TABLE = connections(ZK1, row("ann"), row("bob"), row("carol"))


def printed(*facts: AnyFact, path: str = PATH) -> str:
    """The text about the lock at this path."""
    report = Examiner(Settings()).look(world(own(), *facts), NOW)
    plan = free_plan(report, path, ZkCli("zk1:2181"))
    assert plan is not None
    return "\n".join(free_lines(free_json(plan), knows_waiters=plan.knows_waiters))


def test_a_client_that_waits_in_another_lock_of_a_deadlock_does_not_hold_it() -> None:
    """Carol waits there, and her end lets bob go on."""
    orders = (k("ann", 1, "rlock", czxid=101), k("carol", 2, czxid=105))
    text = printed(
        *facts(*orders, k("bob", 3, "rlock", czxid=106)),
        *facts(k("bob", 1, czxid=102), k("ann", 2, czxid=103), path=BILLING),
        connections(ZK1, row("ann"), row("bob"), row("carol")),
        path=BILLING,
    )

    assert f"1. carol: part of the deadlock, in {PATH}; its node is 1m00s old." in text


def test_nodes_that_are_not_listed_are_counted() -> None:
    """They are not all holders."""
    orphans = [plain("", number) for number in range(1, 31)]

    assert printed(*facts(*orphans, plain("bob", 99))).endswith("\n10 more nodes in the way")


def test_clients_that_only_watch_a_node_wait_for_it() -> None:
    """They have no node, so no order says which of them is next."""
    text = printed(*SINGLE, TABLE, watching({"bob": [MASTER], "carol": [MASTER]}), path=MASTER)

    assert text.startswith(f"{MASTER}  single-node  2 clients wait\n")
    assert "2 clients wait for it: 10.0.0.1:" in text
    assert "Any may be next." in text


def test_without_watch_tables_the_waiters_of_a_single_node_are_unknown() -> None:
    """Nothing else shows them."""
    text = printed(*SINGLE, TABLE, path=MASTER)

    assert text.startswith(f"{MASTER}  single-node  its waiters are unknown\n")
    assert "No client waits" not in text
    assert "Which clients wait for it is unknown" in text


def test_the_text_says_why_zktop_does_not_delete_a_node() -> None:
    """And what it would do if nothing spoke against it."""
    texts = {
        age_ms: " ".join(printed(*facts(plain("", 7, age_ms=age_ms), plain("bob", 8))).split())
        for age_ms in (SECOND, 2 * MINUTE)
    }

    assert "zktop: does not do it: it is only 1s old: zktop waits for 1m00s" in texts[SECOND]
    assert "does it with:" not in texts[SECOND]
    assert f"zktop: does it with: zktop free {PATH} --node lock-" in texts[2 * MINUTE]
    assert "does not do it" not in texts[2 * MINUTE]


def test_several_nodes_that_are_still_there_or_gone_are_in_the_plural() -> None:
    """Several readers may have been asked."""
    nodes = tuple((Text(f"{PATH}/{name}"), Stat(1, 1, NOW)) for name in "ab")
    deed = Deed("ask-to-release", Text(PATH), nodes, ("ann", "bob"))
    report = Examiner(Settings()).look(world(own(), *facts(plain("", 1))), NOW)

    assert f"{PATH}/a and {PATH}/b are still there." in not_freed(deed).sentence
    assert f"{PATH}/a and {PATH}/b are gone;" in freed_json(deed, report).sentence
