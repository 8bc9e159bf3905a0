"""Session ids: an unsigned number inside zktop, hexadecimal in text."""

from functools import lru_cache

from zktop.model.facts import Session

UNSIGNED_64 = 0xFFFF_FFFF_FFFF_FFFF


def session_id(signed: int) -> Session:
    """Normalise an id: JSON and Stat print it signed, four-letter commands unsigned.

    >>> hex(session_id(-4035225190614302720))
    '0xc800001194ba0000'
    """
    return signed & UNSIGNED_64


@lru_cache(maxsize=1 << 16)  # all places of a session share one string
def session_text(session: Session) -> str:
    """An id as ZooKeeper writes it: hex, no padding.

    >>> session_text(72057650093162496)
    '0x100000d0d270000'
    """
    return hex(session)
