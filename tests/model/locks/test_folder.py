"""What the queues of one folder share."""

import pytest

from zktop.model.layouts.layout import ClientView
from zktop.model.layouts.main_libraries import CURATOR_CUSTOM
from zktop.model.layouts.other_libraries import NAMED
from zktop.model.locks.folder import Folder

WHOLE = NAMED.sights[1]


def test_locks_with_different_names_share_an_order_of_whole_names() -> None:
    """Thousands of them would each sort all children."""
    folder = Folder(())
    one, other = (folder.order(NAMED, WHOLE, name, for_readers=False) for name in ("a-", "b-"))

    assert one is other


@pytest.mark.parametrize("view", [NAMED.sights[0], CURATOR_CUSTOM.sights[0]])
def test_an_order_that_depends_on_the_name_is_not_shared(view: ClientView) -> None:
    """Its clients count only names of their own lock, or cut its name off."""
    folder = Folder(())
    one, other = (folder.order(NAMED, view, name, for_readers=False) for name in ("a-", "b-"))

    assert one is not other
