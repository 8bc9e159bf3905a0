"""After how long an identity gives up waiting: ZooKeeper never shows a client's time-out."""

from zktop.model.median import median

_IDENTITIES_AT_MOST = 4_096
_AGES_AT_MOST = 16
_ENOUGH = 2


class Patience:
    """A fold over abandoned waits, of bounded size: who was quiet for longest is forgotten."""

    def __init__(self) -> None:
        """Start knowing nobody."""
        self._ages: dict[str, list[int]] = {}

    def gave_up(self, identity: str, age_ms: int) -> None:
        """Take note of a wait that vanished ungranted, at this age."""
        ages = [*self._ages.pop(identity, ()), age_ms][-_AGES_AT_MOST:]
        self._ages[identity] = ages
        if len(self._ages) > _IDENTITIES_AT_MOST:
            del self._ages[next(iter(self._ages))]

    def timeout_ms(self, identity: str) -> int | None:
        """Tell its usual time-out, once it gave up twice.

        >>> known = Patience()
        >>> known.gave_up("b", 10_000), known.timeout_ms("b")
        (None, None)
        >>> known.gave_up("b", 10_200), known.timeout_ms("b")
        (None, 10100)
        """
        ages = self._ages.get(identity, ())
        return median(ages) if len(ages) >= _ENOUGH else None
