"""What `zktop free` tells zkCli.sh about the ensemble: everything but secrets."""

from zktop.app.zkcli_settings import zkcli_of
from zktop.config.keys_and_defaults import Config, SaslSection
from zktop.tls import Tls


def test_tls_settings_become_flags_of_java() -> None:
    """A certificate and its key are joined first, because Java takes them from one file."""
    cli = zkcli_of(Config(hosts="zk1:2281", tls=Tls(ca="my ca.pem", cert="me.pem", key="me.key")))

    assert cli.needs is None
    assert cli.prepare == "(umask 077; cat me.pem me.key > zkcli.pem)"
    assert "-Dzookeeper.client.secure=true" in cli.jvm_flags
    assert "-Dzookeeper.ssl.keyStore.location=zkcli.pem" in cli.jvm_flags
    assert "-Dzookeeper.ssl.trustStore.location=my ca.pem" in cli.jvm_flags


def test_words_say_what_is_left_out() -> None:
    """The schemes of logins, but no password."""
    sasl = SaslSection(username="me", password="s3cret")
    cli = zkcli_of(Config(auth=("digest:me:s3cret",), sasl=sasl, tls=Tls(verify=False)))

    assert cli.prepare is None
    for words in ("`addauth digest ...`", "JAAS", "the CA of the servers"):
        assert words in (cli.needs or "")
    assert "s3cret" not in str(cli)


def test_an_alias_is_the_address_to_connect_to() -> None:
    """And without TLS or a login nothing is needed."""
    cli = zkcli_of(Config(hosts="zk-0.zk:2181", aliases={"zk-0.zk:2181": "127.0.0.1:12181"}))

    assert (cli.servers, cli.jvm_flags, cli.needs) == ("127.0.0.1:12181", (), None)
