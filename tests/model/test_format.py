"""Names of any length, made short."""

from time import process_time

from zktop.model.format import fold_name


def test_folding_a_name_takes_time_in_proportion_to_its_length() -> None:
    """Any client may create a node with a name of 100,000 colons."""
    assert seconds(":" * 16_000) < 80 * seconds(":" * 1_000)


def seconds(name: str) -> float:
    """How long folding takes, at best."""
    taken = []
    for _ in range(3):
        start = process_time()
        fold_name(name)
        taken.append(process_time() - start)
    return min(taken)
