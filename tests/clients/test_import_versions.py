"""An import agrees with a live run for each version of ZooKeeper, and for several members."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from clients.client_processes import Stage, kazoo_clients
from clients.imports import (
    Watcher,
    acts,
    assert_equal,
    assert_equal_moments,
    imported,
    imported_now,
)
from clients.snapshots import watching
from servers import RunningServer, ask, real_ensemble
from zk.older_servers import HOMES, homes, serving

pytestmark = pytest.mark.zookeeper

TICK_MS = 200
PATIENT = {"tickTime": TICK_MS, "initLimit": 100, "syncLimit": 50}
FIRST_WITH_DIGESTS = (3, 6)


def stage_of(server: RunningServer, kazoo: object) -> Stage:
    """A root on this server, for kazoo clients alone."""
    return Stage(server, "/import", kazoo, kazoo, kazoo)  # type: ignore[arg-type]


@pytest.mark.skipif(not HOMES, reason="`make older` gets them")
@pytest.mark.parametrize("home", homes(), ids=lambda home: home.name)
def test_an_import_says_the_same_for_each_version(home: Path, tmp_path: Path) -> None:
    """Their files differ: no snapshot at first, no paths in a session's end, no digests."""
    with serving(home, tickTime=TICK_MS) as server, kazoo_clients(server) as kazoo:
        stage = stage_of(server, kazoo)
        with watching(stage, [f"{stage.root}/*"]) as run:
            assert run.read()
            watcher = Watcher(stage, run)
            moments = list(acts(stage, watcher))
        summary, file = imported_now(stage, tmp_path)

    has_digests = tuple(map(int, home.name.split(".")))[:2] >= FIRST_WITH_DIGESTS
    assert summary.notes == ()
    assert summary.proven == summary.with_digest == summary.transactions * has_digests
    assert_equal(file, moments, watcher.reports, stage.root)


@pytest.fixture
def ensemble() -> Iterator[list[RunningServer]]:
    """Three members; the first two stay."""
    with real_ensemble(3, **PATIENT) as members:
        followers = [one for one in members if "follower" in ask(one.port, "srvr")]
        leader = next(one for one in members if one not in followers)
        yield [leader, *followers]


def test_an_import_of_three_members_with_one_behind(
    ensemble: list[RunningServer], tmp_path: Path
) -> None:
    """The files of the others go on after its last transaction; alone they end there.

    Events are not: while a member is down, a live run cannot tell an expiry from a release.
    """
    first, second, third = ensemble
    with kazoo_clients(first) as kazoo:
        stage = stage_of(first, kazoo)
        with watching(stage, [f"{stage.root}/*"]) as run:
            assert run.read()
            watcher = Watcher(stage, run)
            moments = []
            for number, moment in enumerate(acts(stage, watcher)):
                moments.append(moment)
                if number == 1:
                    third.process.kill()
                    third.process.wait()
        together, file = imported(stage, tmp_path / "all", [third, second, first])
        alone, _ = imported(stage, tmp_path / "behind", [third])

    uncertain = (
        "The last transactions may not have been committed: the files of other members would"
    )
    assert together.notes == ()
    assert alone.notes == (f"{uncertain} show it.",)
    assert len(together.members) == len(ensemble)
    assert alone.zxid < together.zxid
    assert alone.first_zxid == together.first_zxid
    assert together.proven == together.with_digest == together.transactions
    assert_equal_moments(file, moments, stage.root)
