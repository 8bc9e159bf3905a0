"""The UI in a real terminal, on real servers, with real contenders."""

from cli.live_processes import new_root, worker
from servers import RunningServer
from tmux import ZKTOP, Terminal, terminal

DEADLOCK_WITHIN_S = 3.0


def says_deadlock(text: str) -> bool:
    """True if the screen shows the deadlock of ann and bob."""
    words = " ".join(text.split())
    return "◀──wants──" in words and "1 DEADLOCK" in words


def test_a_deadlock_appears_within_three_seconds_and_goes(server: RunningServer) -> None:
    """It appears after the last request, and is gone after the resolution."""
    root = new_root()
    orders, stock = f"{root}/orders", f"{root}/stock"
    with (
        terminal(*ZKTOP, "--hosts", server.address, "--root", f"{root}/*") as screen,
        worker(server.address, "ann") as ann,
        worker(server.address, "bob") as bob,
    ):
        screen.until("LIVE")
        ann.acquire(orders)
        bob.acquire(stock)
        ann.ask(stock)
        screen.until(lambda text: orders in text and stock in text)
        bob.ask(orders)

        screen.until(says_deadlock, DEADLOCK_WITHIN_S)

        bob.release(stock)

        screen.until(lambda text: "1 DEADLOCK" not in text, DEADLOCK_WITHIN_S)
        screen.until("deadlock over")
        leave(screen)


def leave(screen: Terminal) -> None:
    """Quit with q."""
    screen.press("q")
    screen.until(lambda _text: screen.exit_code == 0)
