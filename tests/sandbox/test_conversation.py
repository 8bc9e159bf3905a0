"""The sandbox answers what a real server answers, frame by frame."""

import re
from pathlib import Path

import pytest
from sandbox.conversation import play
from sandbox.conversation_log import OPS

from zktop.sandbox.read_requests import REQUESTS

RECORDED = Path(__file__).with_name("conversation-3.8.0.txt")


def recorded():
    """The lines of the recording."""
    return RECORDED.read_text().splitlines()


def test_the_sandbox_says_what_a_real_server_said(sandbox):
    """A fixed conversation equals the recorded one, except for ids, passwords and times."""
    said = play(sandbox.port)

    assert said == recorded()


@pytest.mark.zookeeper
def test_a_real_server_says_what_was_recorded(fresh_real):
    """A real server of today still answers as recorded."""
    said = play(fresh_real.port)

    assert said == recorded()


def test_the_conversation_uses_every_request():
    """The comparison includes every request that the sandbox supports."""
    missing = set(REQUESTS) - set(OPS.values())

    assert not missing


def test_the_conversation_meets_many_refusals():
    """The recording holds successes and every refusal that a client can provoke."""
    codes = {int(code) for code in re.findall(r"err=(-?\d+)", RECORDED.read_text())}

    assert codes == {0, -5, -6, -8, -101, -102, -103, -108, -110, -111, -114, -115, -121, -123}
