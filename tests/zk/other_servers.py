"""Sample answers of ClickHouse Keeper and RaftKeeper, with their sources.

The three marked "captured" are in the documentation of these servers; the others are written as
their sources write them.
"""

# Captured, at clickhouse.com/docs/guides/sre/keeper/clickhouse-keeper
OLD_KEEPER_SRVR = """ClickHouse Keeper version: v21.11.1.1-prestable-7a4a0b0edef0ad6e0aa662cd3b90c3f4acf796e7
Latency min/avg/max: 0/0/0
Received: 2
Sent : 2
Connections: 1
Outstanding: 0
Zxid: 34
Mode: leader
Node count: 4
"""  # noqa: E501  as it is
# FourLetterCommand.cpp, ServerStatCommand
KEEPER_SRVR = """ClickHouse Keeper version: v26.3.9.8-0a1b2c3d4e5f60718293a4b5c6d7e8f901234567
Latency min/avg/max: 0/0/7
Received: 110
Sent: 112
Connections: 4
Outstanding: 0
Zxid: 0x22
Mode: follower
Node count: 14
"""
# FourLetterCommand.cpp, MonitorCommand
KEEPER_MNTR = "zk_version\tv26.3.9.8-0a1b2c3d\nzk_server_state\tleader\nzk_watch_count\t3\n"
KEEPER_NOT_SERVING = "This instance is not currently serving requests"
# KeeperTCPHandler.cpp, dumpStats; the second line is a session without a request so far
_REST = ",lresp=1795219104600,llat=0,minlat=0,avglat=0,maxlat=1)\n"
KEEPER_CONS = "".join(
    (
        " 127.0.0.1:57326(recved=6,sent=7,sid=0x0000000000000005,lop=List,est=1795219104533,",
        "to=30000,lcxid=0x0000000000000004,lzxid=0x0000000000000023" + _REST,
        " [::1]:34886(recved=0,sent=0,sid=0x0000000000000006,lop=NA,est=1795219104534,to=10000,",
        "lzxid=0xffffffffffffffff,lresp=0,llat=0,minlat=0,avglat=0,maxlat=0)\n",
        " 127.0.0.1:44438(recved=0,sent=0)\n",
    )
)
# KeeperStorage.cpp, dumpWatches: session 5 watches the children and the data of /locks/a
KEEPER_WCHC = """0x0000000000000005
\t/locks/a
\t/locks/a
0x0000000000000006
\t/locks/a/x-0000000001
"""
# KeeperStorage.cpp, dumpSessionsAndEphemerals
KEEPER_DUMP = """Sessions dump (3):
0x0000000000000005
0x0000000000000006
0x0000000000000007
Sessions with Ephemerals (2):
0x0000000000000005
\t/locks/a/x-0000000001
0x0000000000000006
\t/locks/a/x-0000000002
\t/locks/b/x-0000000000
"""
# Captured, in RaftKeeper's docs/how-to-monitor-and-manage.md
RAFTKEEPER_SRVR = """RaftKeeper version: RaftKeeper v2.0.4
Latency min/avg/max: 0/1/14598
Received: 59695194
Sent : 60406965
Connections: 0
Outstanding: 0
Zxid: 4960740637
Mode: leader
Node count: 2911227
"""
RAFTKEEPER_MNTR = (
    "zk_version\tRaftKeeper v2.0.5-96935ada, built on 2024-04-15 17:19:43 CST\n"
    "zk_compatible_mode\tzookeeper\n"
)
# Captured, in the same file; the first line is the connection that sent `cons`
RAFTKEEPER_CONS = (
    " 10.203.46.164:57828(recved=0,sent=0)\n"
    " 11.118.155.104:52268(recved=94390633,sent=98101089,sid=0x33b,lop=List,"
    "est=1706212559968,to=30000,lcxid=0x59fae04,lzxid=0x1579e9c7e,lresp=1706610369786,"
    "llat=0,minlat=0,avglat=3,maxlat=18446744073709551615)\n"
)
# ConnectionHandler.cpp, dumpStats, where a connection without a session has the id -1
RAFTKEEPER_CONS_NOW = RAFTKEEPER_CONS.replace(
    "57828(recved=0,sent=0)", "57828(recved=0,sent=0,sid=0xffffffffffffffff,lop=NA,est=0,to=30000)"
)
KEEPER_WORDS = {
    "srvr": KEEPER_SRVR,
    "mntr": KEEPER_MNTR,
    "cons": KEEPER_CONS,
    "wchs": "2 connections watching 2 paths\nTotal watches:3\n",
    "wchc": KEEPER_WCHC,
    "dump": KEEPER_DUMP,
}
