"""Detects deadlocks, lock-order inversions and root blockers at each look.

`change` takes the changed locks, and `judge` returns the verdict on the newest state. Evidence
beyond the queues is collected only for the few actors of a deadlock, and only while there is one
(see `evidence`). Each deadlock is judged separately: of a thousand, only those that changed are
judged at once, and the others take turns.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from operator import attrgetter
from typing import Final

import msgspec
from msgspec.structs import replace

from zktop.model.actors import Actors, session_of
from zktop.model.client_names import ClientNames
from zktop.model.facts import Millis
from zktop.model.history.all_locks import LockHistories
from zktop.model.history.lock_change import LockChange
from zktop.model.locks.lock import Lock, Member
from zktop.model.settings import Settings
from zktop.model.text import Text
from zktop.model.waits.assess import assessment, with_blocking_elections
from zktop.model.waits.concurrent_actors import ConcurrencyDetector
from zktop.model.waits.deadlock import Deadlock, DeadlockPlace, deadlock_place
from zktop.model.waits.evidence import (
    LARGE_KNOT_REQUESTS,
    PAUSE_MS,
    EvidenceCollector,
    JudgedCores,
)
from zktop.model.waits.lock_order import LockOrderGraph, OrderActor, Restarts
from zktop.model.waits.lock_order_story import Inversion, inversions
from zktop.model.waits.queues_from_locks import QueueUpdate, queue_updates
from zktop.model.waits.root_blockers import (
    RootBlocker,
    WaitsByWatch,
    blockers_later,
    ranking,
)
from zktop.model.waits.wait_graph import WaitGraph, stuck_cores
from zktop.model.waits.wait_queue import WaitQueue, WaitRequest, lock_path
from zktop.model.world.tables_of_all_servers import Ensemble

RANKED_QUEUES_PER_MS: Final = 5  # 10,000 queues are ranked every two seconds
RANKED_QUEUES_AT_ONCE: Final = 1_000  # more are ranked only in a look without other work
EARLY_END_SHARE: Final = 10  # a deadlock that is over ends the pause after a tenth of it
TESTED_PLACES_PER_MS: Final = 12  # after a test of 50,000 places, the next one is 4 s later
RANKED_FACTOR_AT_REST: Final = 60
TRY_MS: Final = 1_000  # a request that is gone sooner was only a try


class DeadlockVerdict(msgspec.Struct, frozen=True):
    """The verdict of one look.

    `hints` are possible deadlocks that deserve no alarm. Listing the locks in `relist` once more
    would prove or refute further deadlocks.
    """

    deadlocks: tuple[Deadlock, ...] = ()
    hints: tuple[Deadlock, ...] = ()
    relist: tuple[Text, ...] = ()
    inversions: tuple[Inversion, ...] = ()
    blockers: tuple[RootBlocker, ...] = ()


class DeadlockDetector:
    """Keeps the wait graph, and all state about waiting that outlives one look."""

    def __init__(self, settings: Settings, *, ranks_blockers: bool) -> None:
        self.graph = WaitGraph()
        self._settings, self._ranks_blockers = settings, ranks_blockers
        self._actors = Actors(settings)
        self._concurrency = ConcurrencyDetector()
        self._orders = LockOrderGraph()
        self._restarts = Restarts()
        self._inversions: dict[str, Inversion] = {}
        self._elections: set[str] = set()
        self._verdict = DeadlockVerdict()
        self._cores = JudgedCores()
        self._relist: tuple[str, ...] = ()  # to decide which actors have several threads
        self._left: set[DeadlockPlace] = set()  # places that stuck actors left since the last test
        self._tested_at: Millis = 0
        self._pause_ms = 0  # from the test of a large knot or tangle until the next test
        self._is_untested = True  # something has changed since the last test
        self._by_watch = WaitsByWatch()
        self._changed: list[Text] = []  # the locks that changed since the last look
        self._blockers: tuple[RootBlocker, ...] = ()
        self._ranked_at: Millis | None = None
        self._is_unranked = False  # something has changed since then
        self._ranking: Iterator[tuple[RootBlocker, ...] | None] | None = None  # under way
        self._ranked_from: Millis = 0  # when that one began

    @property
    def is_behind(self) -> bool:
        """Whether the last look left work to the next ones: to judge cores or to rank blockers."""
        return self._ranking is not None or self._cores.is_behind

    def is_concurrent(self, actor: str) -> bool:
        """Whether the actor was seen to have more than one thread."""
        return self._concurrency.is_concurrent(actor)

    def change(self, change: LockChange) -> None:
        """Update the graph with one changed lock."""
        self._is_unranked = self._is_untested = True
        self._changed.append(change.path)
        gone = {member.node for member in change.deleted}
        for update in queue_updates(change, self.graph.queues, self._actors):
            if update.deleted:
                self._note_departures(update, change.after, gone)
            self._replace_queue(update)

    def _replace_queue(self, update: QueueUpdate) -> None:
        """Update the graph with one changed queue."""
        name, queue = update.name, update.queue
        if queue is None:
            self.graph.remove(name)
            self._elections.discard(name)
            return
        self.graph.replace(queue, update.created, update.deleted)
        if queue.kind == "election":
            self._elections.add(name)

    def _note_departures(
        self, update: QueueUpdate, lock: Lock | None, gone: Container[Text]
    ) -> None:
        """Record the deleted requests of a queue, before the graph is updated."""
        name, queue, was = update.name, update.queue, self.graph.queues.get(update.name)
        changed = {(request.node, request.czxid) for request in update.created}
        at_ms = lock.changed_at if lock and queue else None
        for request in update.deleted:
            self._report_deletion(request, was, lock, gone)
            if (request.node, request.czxid) not in changed:
                if self._gave_up(request, was, queue, at_ms):
                    self._orders.gave_up(name, request.node)
                self._orders.ended(name, request.node, at_ms)
            if self.graph.is_stuck(request.actor):
                self._left.add(deadlock_place(lock_path(name), request))

    def _gave_up(
        self,
        request: WaitRequest,
        was: WaitQueue | None,
        queue: WaitQueue | None,
        at_ms: Millis | None,
    ) -> bool:
        """Whether a request was only a try: it left soon, and the holder stayed the same.

        If the leader's clock is far from zktop's, it is unknown how soon.
        """
        if was is None or queue is None or at_ms is None or request.since_ms is None:
            return False
        if abs(at_ms - request.since_ms) >= TRY_MS:
            return False
        has_same_holder = was.requests[:1] == queue.requests[:1]
        return has_same_holder and not self.graph.holds(was, request)

    def _report_deletion(
        self,
        request: WaitRequest,
        was: WaitQueue | None,
        lock: Lock | None,
        deleted: Container[Text],
    ) -> None:
        """Report a deletion to the concurrency detector, if its time is known.

        A request may also differ because only its queue or its rule changed. If the lock is gone,
        or only an event shows the deletion, the last listing is older than the deletion.
        """
        if was is None or lock is None:
            return
        node = Text(request.node)
        member = None if node in deleted else lock.member(node)
        if member is not None and request.czxid in (0, member.czxid):
            return
        gone = max(lock.seen_zxid, lock.family.absent.get(node, 0))
        if gone > was.seen_zxid:
            self._concurrency.note_deletion(request, there=was.seen_zxid, gone=gone)

    def judge(
        self,
        ensemble: Ensemble,
        histories: LockHistories,
        locks: Mapping[Text, Lock],
        now_ms: Millis,
        *,
        client_names: ClientNames,
        is_thorough: bool = True,
    ) -> DeadlockVerdict:
        """Judge the newest state.

        After a test of a large knot, or of many tangled actors, the next one is delayed in
        proportion, so that thousands of requests do not keep a processor busy; new deadlocks may
        appear slightly late. After a tenth of the delay it ends if a reported deadlock is over. A
        thorough look is never delayed.
        """
        may_wait = False
        if self._ranks_blockers:
            self._is_unranked |= self._by_watch.look(self._changed, locks, ensemble)
        self._changed = []
        if is_thorough or not self._is_paused(now_ms):
            has_news, self._is_untested = self._is_untested, False
            evidence = EvidenceCollector(
                graph=self.graph,
                concurrency=self._concurrency,
                ensemble=ensemble,
                histories=histories,
                locks=locks,
                client_names=client_names,
                settings=self._settings,
                now_ms=now_ms,
            )
            self._judge_now(evidence, has_news=has_news, is_thorough=is_thorough)
            has_begun = self._ranks_blockers and self._begin_ranking(now_ms)
            may_wait = has_begun and has_news
        self._rank_root_blockers(may_wait=may_wait, at_once=is_thorough)
        return replace(self._verdict, blockers=self._root_blockers(now_ms))

    def _is_paused(self, now_ms: Millis) -> bool:
        elapsed_ms = now_ms - self._tested_at
        if not self._is_untested or not 0 <= elapsed_ms < self._pause_ms:
            return False
        is_early = elapsed_ms < self._pause_ms // EARLY_END_SHARE
        return is_early or self._left.isdisjoint(self._reported_places())

    def _reported_places(self) -> Iterator[DeadlockPlace]:
        """The places that the reported deadlocks need."""
        for deadlock in (*self._verdict.deadlocks, *self._verdict.hints):
            yield from deadlock.places

    def _judge_now(
        self, evidence: EvidenceCollector, *, has_news: bool, is_thorough: bool
    ) -> None:
        complete_to, is_changed = evidence.ensemble.complete_to, has_news
        if has_news or complete_to:
            relist = self._concurrency.look(self.graph, complete_to)
            is_changed |= relist != self._relist
            self._relist = relist
        if has_news:
            self._test(evidence.now_ms)
            self._learn_orders(evidence.locks, evidence.ensemble)
        is_changed |= self._cores.judge(evidence, is_thorough=is_thorough)
        if is_changed:
            self._verdict = self._joined_verdict()

    def _test(self, now_ms: Millis) -> None:
        """Find the cores, and set the pause until the next test by the work for this one."""
        cores = list(stuck_cores(self.graph))
        supposed = with_blocking_elections(self.graph) if self._elections else None
        if supposed is not None:
            cores += stuck_cores(supposed, is_supposed=True)
        self._cores.update(cores)
        self._left.clear()
        is_first, self._tested_at = not self._tested_at, now_ms
        largest = max((stuck_set.size for stuck_set in self.graph.stuck_sets), default=0)
        tested = 0 if is_first else self.graph.tested  # the first test is always large
        self._pause_ms = max(
            largest // LARGE_KNOT_REQUESTS * PAUSE_MS, tested // TESTED_PLACES_PER_MS
        )

    def _joined_verdict(self) -> DeadlockVerdict:
        """The overall verdict, joined from those on all cores."""
        joined = assessment(filter(None, self._cores.judged.values()))
        suspected = (*joined.deadlocks, *joined.hints)
        possible = [order for order in self._potential() if not _has_happened(order, suspected)]
        return DeadlockVerdict(
            deadlocks=joined.deadlocks,
            hints=joined.hints,
            relist=_paths((*self._relist, *joined.relist)),
            inversions=tuple(possible),
        )

    def _potential(self) -> tuple[Inversion, ...]:
        """The lock-order inversions, the closest call first.

        An unchanged one stays the same object.
        """
        before = self._inversions
        unsorted = (
            inversion.with_closest_call(before.get(inversion.id))
            for inversion in inversions(self._orders)
        )
        self._inversions = {
            inversion.id: before[inversion.id]
            if inversion == before.get(inversion.id)
            else inversion
            for inversion in sorted(unsorted, key=attrgetter("closeness"))
        }
        return tuple(self._inversions.values())

    def _begin_ranking(self, now_ms: Millis) -> bool:
        """Start ranking the root blockers if that is due; return whether a ranking started."""
        pause_ms = max(len(self.graph.queues) // RANKED_QUEUES_PER_MS, self._pause_ms)
        pause_ms *= 1 if self._is_unranked else RANKED_FACTOR_AT_REST
        is_recent = self._ranked_at is not None and 0 <= now_ms - self._ranked_at < pause_ms
        if self._ranking is not None or is_recent:
            return False
        self._ranked_from, self._is_unranked = now_ms, False
        self._ranking = ranking(self.graph, now_ms, self._by_watch.counts)
        return True

    def _rank_root_blockers(self, *, may_wait: bool, at_once: bool) -> None:
        """Take the next step of the ranking under way, or all steps at once.

        Thousands of queues take some milliseconds, so a look that has a change to report leaves
        them to the next one.
        """
        is_slow = len(self.graph.queues) > RANKED_QUEUES_AT_ONCE
        if self._ranking is None or (may_wait and is_slow and not at_once):
            return
        for blockers in islice(self._ranking, None if at_once else 1):
            if blockers is not None:
                self._ranked_at, self._blockers = self._ranked_from, blockers
                self._ranking = None

    def _root_blockers(self, now_ms: Millis) -> tuple[RootBlocker, ...]:
        """The root blockers of the last ranking, with their waits extended to now.

        While nothing changes, only the end of a long list may be out of order. Actors that have
        released everything since the ranking are left out.
        """
        if self._ranked_at is None or self._ranked_at == now_ms:
            return self._blockers
        kept = self._blockers
        if self._is_unranked or self._ranking is not None:
            kept = tuple(filter(self._still_blocks, kept))
        return blockers_later(kept, now_ms - self._ranked_at)

    def _still_blocks(self, blocker: RootBlocker) -> bool:
        return any(map(self.graph.is_holder, blocker.actors))

    def _learn_orders(self, locks: Mapping[Text, Lock], ensemble: Ensemble) -> None:
        """Learn the order in which actors with new requests take their locks."""
        self._orders.learn(
            self.graph,
            self.graph.take_newcomers(),
            partial(self._order_actor, locks, ensemble),
            partial(_created_at, locks),
        )

    def _order_actor(
        self, locks: Mapping[Text, Lock], ensemble: Ensemble, actor: str
    ) -> OrderActor:
        places = self.graph.places(actor)
        labels = (_label(locks, queue, request) for queue, request in places)
        owner = next(filter(None, labels), actor)
        asked_ms = max((request.since_ms or 0 for _, request in places), default=0)
        follows = partial(_follows, ensemble, actor)
        return OrderActor(
            identity=self._restarts.identity(actor, owner, asked_ms, follows),
            owner=owner,
            is_concurrent=self._concurrency.is_concurrent(actor),
        )


def _paths(names: Iterable[str]) -> tuple[Text, ...]:
    return tuple(sorted({Text(lock_path(name)) for name in names}))


def _has_happened(inversion: Inversion, deadlocks: Iterable[Deadlock]) -> bool:
    locks = {turn.lock for turn in inversion.turns}
    return any(locks.issubset(deadlock.locks) for deadlock in deadlocks)


def _follows(ensemble: Ensemble, actor: str, earlier: str, asked_ms: Millis) -> bool:
    """Whether the session of `earlier` is over, and `actor` connected after its last request."""
    before, session = session_of(earlier), session_of(actor)
    if before is None or session is None or ensemble.alive(before) is not False:
        return False
    presence = ensemble.presence(session)
    return presence is not None and (presence.established or 0) > asked_ms


def _created_at(locks: Mapping[Text, Lock], name: str) -> int:
    """The transaction that created the root of a queue, or 0 if it could not be read."""
    lock = locks.get(Text(lock_path(name)))
    return lock.stat.czxid if lock and lock.stat else 0


def _label(locks: Mapping[Text, Lock], queue: WaitQueue, request: WaitRequest) -> str | None:
    member = _member(locks, queue.lock, request.node)
    return member.label if member else None


def _member(locks: Mapping[Text, Lock], queue: str, node: str) -> Member | None:
    lock = locks.get(Text(lock_path(queue)))
    return lock.member(Text(node)) if lock else None
