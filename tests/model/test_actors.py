"""Which actor a node belongs to."""

import msgspec
import pytest
from model.make_facts import session
from model.plain_locks import lock_of, member

from zktop.model.actors import BY_NAME, UNOWNED, Actors
from zktop.model.layouts.layout import Layout
from zktop.model.locks.lock import FOREIGN
from zktop.model.session_ids import session_text
from zktop.model.settings import Settings

LASTING = Layout(name="jobs", pattern="^job-{SEQ}$", persistent=True)
NODE = msgspec.structs.replace(member("", 0, 20), named="ann", layout="jobs")


@pytest.mark.parametrize("layout", ["jobs", "mixed:jobs+kazoo-lock"])
def test_a_persistent_node_of_a_layout_of_the_user_is_known_by_its_label(layout: str) -> None:
    """Also in a root with two layouts."""
    lock = msgspec.structs.replace(lock_of("/a", [NODE]), layout=layout)

    assert Actors(Settings(layouts=(LASTING,))).of(lock, NODE) == f"{BY_NAME}ann"


def test_a_foreign_node_in_such_a_lock_belongs_to_nobody() -> None:
    """Whatever its data says."""
    foreign = msgspec.structs.replace(NODE, layout=FOREIGN)
    lock = msgspec.structs.replace(lock_of("/a", [NODE, foreign]), layout="jobs", kind="lease")

    actor = Actors(Settings(layouts=(LASTING,))).of(lock, foreign)

    assert actor == f"{UNOWNED}/a/{foreign.node}"


def test_a_pattern_that_matches_nothing_in_a_label_merges_no_clients() -> None:
    """A name that is empty is none."""
    actors = Actors(Settings(identity="owner", identity_pattern="[0-9]*"))
    one = member("ann", 0, 20)

    assert actors.of(lock_of("/a", [one]), one) == session_text(session("ann"))
