"""Lock vectors: a situation and the expected lock, turned into facts and compared."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from zktop.model.facts import AnyFact, Children, Node, Stat, Watches, join, split
from zktop.model.locks.lock import Lock, Member, NotALock
from zktop.model.locks.lock_at_path import lock_at
from zktop.model.root_entry import Root
from zktop.model.session_ids import session_id
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.world.world import World

Vector = Mapping[str, Any]
Child = Mapping[str, Any]

FOLDER = Path(__file__).parents[2] / "vectors"
ZXID, AT = 1 << 40, 1_700_000_000_000


def all_vectors() -> Iterator[Vector]:
    """Read the folder, and the files that ZKTOP_VECTORS names."""
    named = [Path(name) for name in os.environ.get("ZKTOP_VECTORS", "").split(":") if name]
    for file in [*sorted(FOLDER.glob("*.json")), *named]:
        yield from json.loads(file.read_text("utf-8"))["vectors"]


def lock_of(vector: Vector) -> Lock | NotALock:
    """Judge a vector as it would be judged live."""
    world = World().after(*facts_of(vector))
    return lock_at(vector["root"], world, settings_of(vector), now_of(vector))


def facts_of(vector: Vector) -> Iterator[AnyFact]:
    """Turn a vector into the facts that a source would have read."""
    root, options = vector["root"], vector.get("options", {})
    parent, name = split(root)
    at = now_of(vector)
    siblings: Mapping[str, Sequence[Child]] = vector.get("siblings", {})
    if parent:
        yield _listing(
            parent, [{"name": n, "owner": "0x0", "czxid": 1} for n in (name, *siblings)], at
        )
        yield _node(root, vector, options.get("root_owner", "0x0"), at)
    below = vector.get("subnodes", {})
    sizes = {child: len(children) for child, children in below.items()}
    owner = int(options.get("root_owner", "0x0"), 16)
    yield from _family(root, vector["children"], at, owner, sizes)
    for child, children in below.items():
        yield from _family(join(root, child), children, at)
    for sibling, children in siblings.items():
        yield from _family(join(parent, sibling), children, at)
    if "watchers" in options:
        yield _watch_table(root, options["watchers"], at)


def settings_of(vector: Vector) -> Settings:
    """Return the options as settings, as a config file gives them."""
    options = vector.get("options", {})
    known = {"max_leases": "leases", "interop": "interop"}
    given = {known[key]: value for key, value in options.items() if key in known}
    return Settings(roots=(Root(path=vector["root"], **given),)) if given else Settings()


def now_of(vector: Vector) -> int:
    """Return the time of a vector in milliseconds."""
    now = vector.get("options", {}).get("now")
    return AT if now is None else int(datetime.fromisoformat(now).timestamp() * 1000)


def _family(
    path: str,
    children: Sequence[Child],
    at: int,
    owner: int = 0,
    sizes: Mapping[str, int] | None = None,
) -> Iterator[AnyFact]:
    """Yield a listing and its children; `sizes` says how many children each of these has."""
    yield _listing(path, children, at, owner)
    for child in children:
        data, czxid = _bytes(child.get("data", "")), int(child["czxid"])
        size = (sizes or {}).get(child["name"], 0)
        stat = Stat(czxid, czxid, at, owner=int(child["owner"], 16), num_children=size)
        yield Node(zxid=ZXID, at=at, path=join(path, child["name"]), stat=stat, data=data)


def _listing(path: str, children: Sequence[Child], at: int, owner: int = 0) -> Children:
    names = tuple(Text(child["name"]) for child in children)
    stat = Stat(1, 1, at, cversion=_cversion(names), owner=owner, num_children=len(names))
    return Children(zxid=ZXID, at=at, path=Text(path), names=names, stat=stat)


def _cversion(names: Sequence[str]) -> int:
    """Count as many creations as the largest number among the names needs."""
    numbers = [int(found[0]) for name in names if (found := re.search(r"\d{10}$", name))]
    creations = min(max(numbers, default=len(names)) + 1, (1 << 31) - 1)
    return (2 * creations - len(names)) & 0xFFFF_FFFF


def _node(path: str, vector: Vector, owner: str, at: int) -> Node:
    stat = Stat(1, 1, at, owner=session_id(int(owner, 16)))
    data = _bytes(vector.get("root_data", ""))
    return Node(zxid=ZXID, at=at, path=Text(path), stat=stat, data=data)


def _watch_table(root: str, watchers: Mapping[str, Sequence[str]], at: int) -> Watches:
    rows: dict[int, tuple[Text, ...]] = {}
    for path, sessions in watchers.items():
        absolute = Text(root) if path == "." else join(root, path)
        for session in sessions:
            number = int(session, 16)
            rows[number] = (*rows.get(number, ()), absolute)
    return Watches(zxid=ZXID, at=at, server=Text("zk1:2181"), rows=rows)


def _bytes(text: str) -> bytes:
    """Encode a text of a vector."""
    return text.encode("latin-1") if text.isascii() else text.encode("utf-8")


def complaints(vector: Vector, lock: Lock | NotALock) -> list[str]:
    """Compare with everything that a vector expects."""
    expect = vector["expect"]
    kinds = [expect["kind"], *expect.get("also_accept_kinds", [])]
    kind = lock.layout if isinstance(lock, Lock) else lock.kind
    found = [] if kind in kinds else [f"it is {kind}, not {' or '.join(kinds)}"]
    holders = list(lock.holders) if isinstance(lock, Lock) else []
    waiters = list(lock.waiters) if isinstance(lock, Lock) else []
    found += _differences("holder", expect["holders"], holders, ordered=False)
    found += _differences("waiter", expect["waiters"], waiters, ordered=True)
    if isinstance(lock, Lock):
        for wanted, member in zip(expect["waiters"], waiters, strict=False):
            found += _watch_differences(wanted, lock, member)
    found += [f"{n} is foreign" for n in expect.get("foreign", ()) if n not in lock.foreign]
    stranded = lock.stranded if isinstance(lock, Lock) else frozenset()
    if stranded != set(expect.get("stranded", ())):
        found.append(f"stranded are {sorted(stranded)}, not {expect.get('stranded', [])}")
    warnings = lock.warnings if isinstance(lock, Lock) else ()
    found += [f"no warning {word}" for word in expect.get("warnings", ()) if word not in warnings]
    return found


def _differences(
    what: str, expected: list[Any], members: list[Member], *, ordered: bool
) -> list[str]:
    wanted = [(one["name"], one["mode"]) for one in expected]
    got = [(str(member.node), str(member.mode)) for member in members]
    same = wanted == got if ordered else sorted(wanted) == sorted(got)
    found = [] if same else [f"{what}s are {got}, not {wanted}"]
    labels = {member.node: member.label or "" for member in members}
    for one in expected:
        label = labels.get(one["name"])
        if "label" in one and label != one["label"]:
            found.append(f"label of {one['name']} is {label!r}, not {one['label']!r}")
    return found


def _watch_differences(wanted: Any, lock: Lock, member: Member) -> list[str]:
    targets = {(str(target.path), _table(target.how)) for target in lock.expected(member)}
    for watch in wanted["watches"]:
        paths = watch["path"] if isinstance(watch["path"], list) else [watch["path"]]
        fits = targets & {(path, _table(watch["how"])) for path in paths}
        if not fits:
            return [f"{member.node} watches {targets}, not {watch}"]
        targets -= fits
    return [f"{member.node} watches {targets}, too"] if targets else []


def _table(how: str) -> str:
    """Data and exists watches share one server table."""
    return "children" if how == "children" else "node"
