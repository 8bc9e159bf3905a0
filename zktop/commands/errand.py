"""Something done on another thread, while this one has other things to do than to wait."""

import queue
import threading
from collections.abc import Callable


class Errand:
    """One call, under way as soon as it is made; `wait` ends as the call does."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._ended: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, args=(call,), name="errand", daemon=True).start()

    def wait(self) -> None:
        """Wait for the end; what the call raised is raised here. To be asked once."""
        problem = self._ended.get()
        if problem is not None:
            raise problem

    def _run(self, call: Callable[[], object]) -> None:
        try:
            call()
        except BaseException as problem:  # noqa: BLE001  it is raised where it is waited for
            self._ended.put(problem)
        else:
            self._ended.put(None)
