"""Contenders that check with the server that their critical sections are exclusive.

A contender creates an ephemeral node beside the lock after it has acquired the lock, and deletes
it before it releases the lock. When the session ends, one transaction deletes both nodes. A
contender that finds the node of another one has proved that two live sessions were in the
critical section at the same time. Run as a program, this module is such a contender.
"""

import contextlib
import runpy
import sys

from kazoo.exceptions import NoNodeError, SessionExpiredError

from zktop.demo.locked_work import LockedWork

NOT_ALONE = "not alone"  # the first words of a contender that finds another one
_run = LockedWork.run


class ExclusionCheck:
    """The node of one contender in the critical section."""

    def __init__(self, work: LockedWork) -> None:
        recipe = work._held[-1]
        self._client, self._path = work.client, f"{recipe.path}-inside"
        self._shares = recipe.mode == "read"
        self._name = f"{'r' if self._shares else 'w'}-{work.order.name}"

    def enter(self) -> list[str]:
        """Create the node; return the nodes of contenders that must not be there."""
        self._client.ensure_path_async(self._path).get()
        self._client.create_async(f"{self._path}/{self._name}", ephemeral=True).get()
        names = self._client.get_children_async(self._path).get()
        others = (name for name in names if name != self._name)
        return sorted(name for name in others if not (self._shares and name[0] == "r"))

    def leave(self) -> None:
        """Delete the node; call it before the lock is released."""
        with contextlib.suppress(NoNodeError, SessionExpiredError):
            delete = self._client.delete_async
            self._client.retry(lambda: delete(f"{self._path}/{self._name}").get())


def run_checked(work: LockedWork) -> None:
    """Work, with the check around it."""
    check = ExclusionCheck(work)
    try:
        others = check.enter()
        if others:
            work.report(f"{NOT_ALONE}: {', '.join(others)} is in the critical section too")
        _run(work)
    finally:
        check.leave()


if __name__ == "__main__":
    LockedWork.run = run_checked  # type: ignore[method-assign]
    sys.argv[0] = "zktop.demo"
    runpy.run_module("zktop.demo", run_name="__main__")
