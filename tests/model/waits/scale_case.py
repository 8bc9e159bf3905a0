"""The scale case: 10,000 actors in 2,203 locks, with an answer that is known by construction."""

from msgspec.structs import replace

from zktop.model.layouts.layout import LockMode
from zktop.model.waits.wait_queue import QueueKind, WaitQueue, WaitRequest


class _Crowd:
    """Collects members in the order in which they were created."""

    def __init__(self) -> None:
        self._zxid = 0
        self._queues: dict[str, list[WaitRequest]] = {}
        self._rules: dict[str, tuple[QueueKind, int | None]] = {}

    def join(
        self,
        lock: str,
        actor: str,
        mode: LockMode = "exclusive",
        rules: tuple[QueueKind, int | None] = ("exclusive", None),
    ) -> None:
        self._zxid += 1
        self._rules.setdefault(lock, rules)
        node = f"_c_{self._zxid:032x}-lock-{self._zxid:010d}"
        request = WaitRequest(node, actor, mode, self._zxid, self._zxid)
        self._queues.setdefault(lock, []).append(request)

    def queues(self) -> list[WaitQueue]:
        return [
            WaitQueue(lock, kind, tuple(self._queues[lock]), capacity, seen_zxid=self._zxid)
            for lock, (kind, capacity) in self._rules.items()
        ]


def scale_case() -> list[WaitQueue]:
    """Four rings of 50, 1,000 victims of one of them, and four big harmless shapes."""
    crowd = _Crowd()
    _join_rings(crowd)
    for i in range(1_000):
        crowd.join("/ring0/0", f"victim{i}")
    for i in range(3_800):
        mode: LockMode = "write" if i == 2_000 else "read"
        crowd.join("/rw", f"shared{i}", mode, ("read-write", None))
    for i in range(1_000):
        crowd.join("/pool", f"leaser{i}", "lease", ("pool", 100))
    for i in range(2_000):
        crowd.join(f"/chain/{i}", f"chain{i}")
    for i in range(1_999):
        crowd.join(f"/chain/{i + 1}", f"chain{i}")
    for i in range(2_000):
        crowd.join("/convoy", f"convoy{i}")
    return crowd.queues()


def _join_rings(crowd: _Crowd) -> None:
    for ring in range(4):
        for i in range(50):
            crowd.join(f"/ring{ring}/{i}", f"ring{ring}-{i}")
        for i in range(50):
            crowd.join(f"/ring{ring}/{(i + 1) % 50}", f"ring{ring}-{i}")


def longer(
    queue: WaitQueue, actor: str, mode: LockMode = "exclusive"
) -> tuple[WaitQueue, WaitRequest]:
    """The queue with one more request at its tail."""
    zxid = queue.seen_zxid + 1
    request = WaitRequest(f"new-{actor}-{zxid}", actor, mode, zxid, zxid)
    return replace(queue, requests=(*queue.requests, request), seen_zxid=zxid), request


def shorter(queue: WaitQueue, gone: WaitRequest) -> WaitQueue:
    """The queue without this request."""
    kept = tuple(request for request in queue.requests if request is not gone)
    return replace(queue, requests=kept, seen_zxid=queue.seen_zxid + 1)
