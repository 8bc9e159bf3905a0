"""SASL needs optional packages; a missing one is named before connecting."""

import sys

import pytest

from zktop.errors import UsageError
from zktop.zk import Access, Plan, Source, parse_hosts

LACKING = [
    ("DIGEST-MD5", ["puresasl"], "`pipx inject zktop pure-sasl`, or pip install it"),
    ("GSSAPI", ["kerberos", "winkerberos"], "`pipx inject zktop kerberos`, or pip install it"),
]


@pytest.mark.parametrize(("mechanism", "missing", "advice"), LACKING)
def test_a_package_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, mechanism: str, missing: list[str], advice: str
) -> None:
    """Without this check kazoo would die on its own thread, as if the credentials were wrong."""
    pytest.importorskip("puresasl")
    for package in missing:
        monkeypatch.setitem(sys.modules, package, None)
    access = Access(parse_hosts("127.0.0.1:1"), sasl={"mechanism": mechanism})

    with pytest.raises(UsageError, match=advice):
        Source(access, Plan()).start()
