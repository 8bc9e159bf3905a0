"""A past in which twenty locks are released and asked for again, one at a time."""

import random
from collections.abc import Iterable

from model.make_facts import NOW
from output.stories import facts
from ui.fake_feed import frames

from zktop.model.facts import AnyFact, Gone, Millis, Node, Stat
from zktop.model.text import Text
from zktop.ui.interfaces import Frame
from zktop.ui.past.tape import Tape

BEGIN = NOW + 1_000_000
CROWD = " ; ".join(f"X{n:02} x: A{n} B{n} C{n}" for n in range(20))


def churn(count: int, every_ms: Millis = 1_000) -> list[Frame]:
    """Frames in each of which one of twenty locks is released, and asked for again."""
    chance, queues = random.Random(7), dict[Text, list[Node]]()
    begin = facts(CROWD, at=BEGIN, zxid=100)
    for fact in begin:
        if isinstance(fact, Node):
            queues.setdefault(Text(fact.path.rpartition("/")[0]), []).append(fact)
    moments: list[tuple[Millis, Iterable[AnyFact]]] = [(BEGIN, begin)]
    for number in range(1, count):
        at, zxid = BEGIN + every_ms * number, 10_000 + 2 * number
        path = chance.choice(sorted(queues))
        left = queues[path].pop(0)
        again = Stat(zxid + 1, zxid + 1, at, owner=left.stat.owner)
        name = Text(f"{path}/lock-{zxid:010}")
        came = Node(path=name, stat=again, data=left.data, zxid=zxid + 1, at=at)
        queues[path].append(came)
        moments.append((at, [Gone(path=left.path, zxid=zxid, at=at), came]))
    return frames(*moments)


def make_room(tape: Tape) -> None:
    """Pack what is too much, as the UI does on a thread."""
    if surplus := tape.surplus():
        tape.replace(surplus, tape.packer.packed(surplus))
