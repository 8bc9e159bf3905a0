"""The word for the worst problem of a lock."""

import pytest

from zktop.model.findings.catalogue import RULES
from zktop.model.findings.finding import Rule
from zktop.ui.screens.common.lock_status import CODES, WORDS


@pytest.mark.parametrize("rule", [one for one in RULES if one.code], ids=lambda rule: rule.id)
def test_the_letters_of_each_rule_have_a_word(rule: Rule) -> None:
    """Otherwise a list of locks would show the letters themselves."""
    assert rule.code in WORDS


def test_a_lock_whose_holder_lost_its_node_is_not_called_owned_by_two() -> None:
    """The lock may be free."""
    assert WORDS[CODES["S5"]][0] == "NODE GONE"
