"""The UI on servers of other makers: it starts, keeps running, and names the server."""

import pytest
from servers import sandbox_server
from tmux import ZKTOP, terminal


@pytest.mark.parametrize(
    ("flavour", "shown"),
    [("keeper", "Keeper 26.3"), ("raftkeeper", "RaftKeeper 2.3"), ("zetcd", "zetcd")],
)
def test_screen_4_names_the_server(flavour: str, shown: str) -> None:
    """The column of versions has the name."""
    with (
        sandbox_server("--flavour", flavour) as server,
        terminal(*ZKTOP, "--hosts", server.address) as screen,
    ):
        screen.resize(180, 40)
        screen.until("LIVE")
        screen.press("4")
        screen.until(shown)

        assert "LIVE" in screen.text()
