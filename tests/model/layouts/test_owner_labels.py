"""The label of a lock's owner, from the data that known systems write into its znode."""

import pytest

from zktop.model.layouts.owner_labels import label_of

HBASE_MASTER = (  # what HMaster 2.x writes: magic, an id, PBUF, Master(ServerName, version, port)
    b"\xff\x00\x00\x00\x16master:16000\x9a\x13\x1f\x88\x02\xc9\x07\x5e\xd6PBUF"
    b"\n\x16\n\nm1.example\x10\x80\x7d\x18\xe4\xa5\xb0\xc1\xf5\x31\x10\x00\x18\x8a\x7d"
)
HBASE_SPLIT = b"\xff\x00\x00\x00\x03abcPBUF\n\x07rs-7.eu\x10\x94\x7d\x18\xe4\xa5\xb0\xc1\xf5\x31"
KAFKA = b'{"version":2,"brokerid":3,"timestamp":"1769860800000","kraftControllerEpoch":-1}'
OOZIE = (
    b'{"name":"servers","id":"oozie-2","address":"h","port":null,"payload":{"OOZIE_ID":"oozie-2"}}'
)
SYSTEMS = {
    "Hudi": ("curator-lock", b"application_id=application_1700_0042", "application_1700_0042"),
    "Hudi, more fields": ("curator-lock", b"host=a,application_id=spark-7,user=eve", "spark-7"),
    "Hudi, without one": ("curator-lock", b"application_id=Unknown", None),
    "Spark's master": ("curator-latch", b"", None),
    "Hive": (
        "hive-lock",
        b"hive_20260131_8f:17698:IMPLICIT:select 1:10.0.0.1",
        "hive_20260131_8f",
    ),
    "Oozie's lock": ("curator-rw", b"10.0.0.3", "10.0.0.3"),
    "Oozie's server": ("curator-lock", OOZIE, "h"),
    "Kyuubi": ("named-sequence", b"kyuubi-1.example:10009", "kyuubi-1.example:10009"),
    "HBase's master": ("single-node", HBASE_MASTER, "m1.example:16000"),
    "HBase's region server": ("single-node", HBASE_SPLIT, "rs-7.eu:16020"),
    "HBase's older locks": ("rw-dash", b"rs1.eu,16020,1769860800000", "rs1.eu:16020"),
    "Kafka": ("single-node", KAFKA, "broker 3"),
    "Patroni": ("single-node", b"postgresql-1", "postgresql-1"),
    "BookKeeper": ("bookkeeper-auditor", b'bookieId: "b1:3181"\n', "b1:3181"),
    "Mesos": ("mesos-group", b'{"address":{"hostname":"m1","ip":"10.0.0.1"},"pid":"x"}', "m1"),
    "Accumulo": ("accumulo", b'{"descriptors":[{"address":"t1:9997"}]}', "t1:9997"),
    "Vitess": ("bare", b'{"HostName":"h2","UserName":"vt","Action":"Reparent"}', "vt@h2 Reparent"),
    "ClickHouse": ("clickhouse-leader-election", b"r1 (r1.example)", "r1"),
    "Solr": ("solr", b"", None),
    "NiFi, Druid": ("curator-lock", b"node1:8443", "node1:8443"),
}


@pytest.mark.parametrize(("layout", "data", "label"), SYSTEMS.values(), ids=SYSTEMS)
def test_the_owner_is_what_the_system_wrote(layout: str, data: bytes, label: str | None) -> None:
    """An application, a query, a server or a broker, not a whole document."""
    assert (label_of(data, layout) if data else None) == label


def test_a_document_that_is_nested_too_deeply_is_its_own_label() -> None:
    """Any client may write such data into its own contender."""
    data = b'{"id":' * 580 + b"1" + b"}" * 580

    assert (label_of(data, "kazoo-lock") or "").startswith('{"id":{"id":')


def test_a_user_on_an_unnamed_host_is_no_label() -> None:
    """Many hosts may have this user."""
    assert label_of(b'{"HostName":null,"UserName":"vt"}', "single-node") is None


@pytest.mark.parametrize("key", ["brokerid", "HostName", "ip", "name"])
@pytest.mark.parametrize("value", ["null", "true"])
def test_what_is_no_text_and_no_number_is_no_label(key: str, value: str) -> None:
    """A field may be empty."""
    assert label_of(f'{{"{key}":{value}}}'.encode(), "single-node") is None
