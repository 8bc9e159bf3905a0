"""An in-memory ZooKeeper server for demos and tests.

It speaks the client protocol of ZooKeeper 3.8: ordinary clients see no difference. It stores
nothing on disk and replicates nothing, so it must never hold real locks. Quotas, SASL, TLS,
read-only mode, reconfiguration and the AdminServer are missing. A `Flavour` makes it imitate one
of three other servers of that protocol: ClickHouse Keeper, RaftKeeper and zetcd.
"""

VERSION = "3.8.0-zktop-sandbox"
BUILT = "built on 2026-01-31 00:00 UTC, in memory, for demos and tests only"
