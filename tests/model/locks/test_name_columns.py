"""Names that are cut into columns are those that a search through each by itself finds."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zktop.model.layouts.layout import compiled
from zktop.model.locks.bulk import HEX, UUID, Shape, columns


class Naming(NamedTuple):
    """A shape, what a search for it would be, and a name that has it, in its parts."""

    shape: Shape
    search: str
    before: str
    token: str
    after: str

    @property
    def name(self) -> str:
        """The whole name."""
        return f"{self.before}{self.token}{self.after}0000000012"


TOKEN, DASHED = "0123456789abcdef" * 2, "01234567-89ab-cdef-0123-456789abcdef"
NAMINGS = [
    Naming((HEX, b"__lock__"), r"({H32})__lock__(0\d{9})", "", TOKEN, "__lock__"),
    Naming((b"_c_", UUID, b"-lock-"), r"_c_({U36})-lock-(0\d{9})", "_c_", DASHED, "-lock-"),
    Naming((b"lock-",), r"lock-()(0\d{9})", "lock-", "", ""),
]
STRANGE = ["", "ab", *"hg-_A0c9 \n\u0661\xe9"]


@st.composite
def named(draw: st.DrawFn) -> tuple[Naming, list[str]]:
    """Give names of one shape, of which one is sometimes a little different."""
    naming = draw(st.sampled_from(NAMINGS))
    name = naming.name
    names = [name] * draw(st.integers(1, 130))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(name) - 1))
        odd = name[:at] + draw(st.sampled_from(STRANGE)) + name[at + 1 :]
        names[draw(st.integers(0, len(names) - 1))] = odd
    return naming, names


@given(named())
def test_what_is_cut_is_what_is_found_one_by_one(told: tuple[Naming, list[str]]) -> None:
    """All of one shape, or nothing is cut at all."""
    naming, names = told
    found = [compiled(naming.search).fullmatch(name) for name in names]
    cut = columns(naming.shape, names)

    assert (cut is None) == (None in found)
    if cut is not None:
        assert cut.numbers == [int(match[2]) for match in found if match]
        assert cut.tokens == [match[1].encode() for match in found if match and match[1]]


@pytest.mark.parametrize("naming", NAMINGS)
def test_the_parts_are_cut_apart(naming: Naming) -> None:
    """A token where there is one, and the number."""
    cut = columns(naming.shape, [naming.name])

    assert cut
    assert cut.tokens == ([naming.token.encode()] if naming.token else [])
    assert cut.numbers == [12]


def test_no_names_have_no_columns() -> None:
    """There is nothing that could be of a shape."""
    assert columns((HEX,), []) is None
