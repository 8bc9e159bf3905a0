"""What watch tables show about one session: it watches a node, it does not, or that is unknown."""

import pytest
from model.make_facts import ZK1, ZK2, no_watches, session, watches, world

from zktop.model.facts import Watches
from zktop.model.locks.open_folder import is_watching
from zktop.model.text import Text

NODE = Text("/locks/a/lock-0000000001")


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ([watches(ZK1, {"alice": (NODE,)})], True),
        ([watches(ZK1, {"alice": ("/other",)})], False),
        ([watches(ZK1, {})], False),
        ([watches(ZK1, {}), watches(ZK2, {})], False),
        ([watches(ZK1, {}), no_watches(ZK2)], None),
        ([watches(ZK1, {"alice": ("/other",)}), no_watches(ZK2)], False),
        ([], None),
    ],
)
def test_a_session_without_a_row_watches_nothing_if_all_tables_were_read(
    *, tables: list[Watches], expected: bool | None
) -> None:
    """An empty table is an answer, too; its server has no watches."""
    assert is_watching(world(*tables), session("alice"), NODE, since=0) is expected
