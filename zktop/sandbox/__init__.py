"""An embedded ZooKeeper server for demos and tests: in memory, in one process, no real ensemble.

It speaks the client protocol of ZooKeeper 3.8 so that ordinary clients cannot tell the difference
in what they see. It keeps nothing on disk and replicates nothing: never put real locks on it.
Left out are quotas, SASL, TLS, read-only mode, reconfiguration and the AdminServer. It can also
play three other servers of that protocol, with what sets them apart.
"""

VERSION = "3.8.0-zktop-sandbox"
BUILT = "built on 2026-01-31 00:00 UTC, in memory, for demos and tests only"
