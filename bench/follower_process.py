"""A process that follows a root for a while, and reports the cost.

`ours` follows as the UI does: it makes every report and drops it. `bare` keeps a persistent
recursive watch and counts events. A bystander follows nothing: it reads a lock now and then, with
a watch, and times the answers. Two more serve for comparison: one is as busy and sends no
requests, the other is idle and sends many reads at once, like a polling client. The bench runs
this; it prints a line of JSON when it has read and examined all, and at the end, and ends when
stdin closes.
"""

import json
import sys
import threading
import time
from collections import Counter
from itertools import cycle

from kazoo.client import KazooClient

from bench.figure import memory_mb
from bench.priority import use_normal_priority
from zktop.app.live_run import LiveRun
from zktop.app.look_pace import LOOKS_PER_S
from zktop.model.facts import Gone, Node, SourceFact
from zktop.model.root_entry import Root
from zktop.model.settings import Settings
from zktop.zk import Access, Plan, Source, parse_hosts
from zktop.zk.read.requests import GET_CHILDREN, AddWatch, MultiRead, encode_item
from zktop.zk.read.requests_in_flight import MAX_BATCH_ITEMS

WHAT, ADDRESS, ROOT, BELOW, BUSY = sys.argv[1:]
BETWEEN_S = 0.002  # between two reads of a bystander


def main() -> None:
    """Follow until stdin closes."""
    if WHAT != "bystander":
        use_normal_priority()
    over = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), over.set()), daemon=True).start()
    kinds = {"ours": follow, "bare": watch, "bystander": stand_by, "busy": be_busy, "polls": poll}
    kinds[WHAT](over)


def follow(over: threading.Event) -> None:
    """Make reports until stdin closes."""
    seen: Counter[str] = Counter()
    plan = Plan(roots=(f"{ROOT}/{BELOW}",), introspect=False)
    settings = Settings(roots=(Root(f"{ROOT}/{BELOW}"),))
    live = LiveRun(Access(parse_hosts(ADDRESS), session_timeout=30), plan, settings)
    source = live._source  # noqa: SLF001
    changes = _count(source)
    imported_mb, process_began = memory_mb(), time.process_time()
    with live:
        assert live.read()
        live.look()
        first_cpu = time.process_time() - process_began
        looks = live.reports()
        report = next(one for one in looks if not live._examiner.is_behind)  # noqa: SLF001
        changes.clear()
        begin, cost = _now(), source.cost()
        first = {"first_cpu": first_cpu, "imported_mb": imported_mb}
        print_json(locks=len(report.paths), watches=cost.watches, **first)
        for report in looks:
            for event in report.events:
                seen[event.event] += 1
                seen["missed"] += (event.creates or 0) + (event.deletes or 0)
            if over.is_set():
                break
        more = source.cost().requests - cost.requests
        print_json(**_spent(begin), seen=seen, changes=len(changes), requests=more)


def _count(source: Source) -> set[tuple[str, str]]:
    """Collect created and deleted znodes as the source reports them."""
    changes: set[tuple[str, str]] = set()
    take = source.take

    def counted() -> list[SourceFact]:
        facts = take()
        changes.update(
            (type(fact).__name__, fact.path)
            for fact in facts
            if isinstance(fact, Gone) or (isinstance(fact, Node) and fact.stat is None)
        )
        return facts

    source.take = counted  # type: ignore[method-assign]
    return changes


def watch(over: threading.Event) -> None:
    """Count events in as few lines as possible."""
    count = 0

    def one(*_event: object) -> None:
        nonlocal count
        count += 1

    client = KazooClient(ADDRESS, timeout=30)
    client.start()
    client._connection._read_watch_event = one  # noqa: SLF001
    added = client.handler.async_result()
    client._call(AddWatch(ROOT), added)  # noqa: SLF001
    added.get(timeout=10)
    begin = _now()
    print_json(locks=0)
    over.wait()
    print_json(**_spent(begin), seen={"events": count})
    client.stop()


def stand_by(over: threading.Event) -> None:
    """Time reads with a watch, one after another."""
    client = KazooClient(ADDRESS, timeout=30)
    client.start()
    locks = client.get_children(f"{ROOT}/locks")
    print_json(locks=len(locks))
    taken: list[float] = []
    while not over.is_set():
        began = time.perf_counter()
        client.get(f"{ROOT}/locks/{locks[len(taken) % len(locks)]}", watch=lambda _event: None)
        taken.append((time.perf_counter() - began) * 1000)
        time.sleep(BETWEEN_S)
    print_json(taken=taken)
    client.stop()


def be_busy(over: threading.Event) -> None:
    """Use as much of a core as zktop, in equal slices; send no requests."""
    begin = _now()
    print_json(locks=0)
    each = float(BUSY) / LOOKS_PER_S
    while not over.wait(1 / LOOKS_PER_S - each):
        until = time.thread_time() + each
        while time.thread_time() < until:
            pass
    print_json(**_spent(begin))


def poll(over: threading.Event) -> None:
    """List locks as often as zktop looks, in batches as large as its largest."""
    client = KazooClient(ADDRESS, timeout=30)
    client.start()
    below = f"{ROOT}/locks"
    locks = [encode_item(GET_CHILDREN, f"{below}/{name}") for name in client.get_children(below)]
    begin = _now()
    print_json(locks=len(locks))
    for start in cycle(range(0, len(locks), MAX_BATCH_ITEMS)):
        listed = client.handler.async_result()
        client._call(MultiRead(locks[start : start + MAX_BATCH_ITEMS]), listed)  # noqa: SLF001
        listed.get(timeout=10)
        if over.wait(1 / LOOKS_PER_S):
            break
    print_json(**_spent(begin))
    client.stop()


def print_json(**values: object) -> None:
    """Print results for the bench, as one line."""
    print(json.dumps(values), flush=True)


def _now() -> tuple[float, float]:
    return time.monotonic(), time.process_time()


def _spent(begin: tuple[float, float]) -> dict[str, float]:
    wall, cpu = (now - then for now, then in zip(_now(), begin, strict=True))
    return {"seconds": wall, "cpu": cpu, "memory_mb": memory_mb()}


main()
