"""Notices that servers are up but refuse zktop's session, so that only a new run can go on.

This happens, for example, if they have lost their data: a server always refuses a client that has
seen later transactions. A new run has a new session and reads everything again.
"""

from collections.abc import Sequence
from time import monotonic

from zktop.errors import UsageError
from zktop.zk.connect.address import Access
from zktop.zk.connect.preflight import Probe, preflight

REFUSED_AFTER_S = 12.0  # longer than any pause between two attempts of the client


class Refusal:
    """Probes the servers while the connection of a run is lost."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.probes: Sequence[Probe] = ()  # the hosts' answers since the connection was lost
        self._since: float | None = None

    @property
    def is_any_up(self) -> bool:
        return any(probe.outcome == "ok" for probe in self.probes)

    def lasts(self, lost_s: float) -> bool:
        """Return whether servers are reachable but have refused the session for a while."""
        self.probes = self._probe() if lost_s else ()
        if not self.is_any_up:
            self._since = None
            return False
        now = monotonic()
        self._since = self._since or now
        return now - self._since > REFUSED_AFTER_S

    def _probe(self) -> Sequence[Probe]:
        try:
            return preflight(self._access.hosts.addresses, self._access.tls)
        except UsageError:  # TLS files that are being replaced
            return ()
