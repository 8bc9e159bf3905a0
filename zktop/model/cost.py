"""What watching costs the ensemble, as the source counts it."""

import msgspec


class Cost(msgspec.Struct, frozen=True):
    """Watches at the moment; requests and bytes since the session began."""

    watches: int
    requests: int
    bytes_in: int
    requests_per_s: float | None = None
