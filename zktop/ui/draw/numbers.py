"""Numbers as people read them."""


def grouped(number: int) -> str:
    """Write a number so that its size is seen.

    >>> grouped(9998), grouped(28)
    ('9 998', '28')
    """
    return f"{number:,}".replace(",", " ")
