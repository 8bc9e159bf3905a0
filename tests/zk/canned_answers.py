"""A server whose answers to four-letter words are given, and what is read from it."""

from zk.bad_servers import listener, speaks

from zktop.zk import parse_hosts
from zktop.zk.connect.address import AdminAccess
from zktop.zk.servers.sample import Sample, SampleSettings, by_words
from zktop.zk.servers.server_clock import ServerClock

WHOLE = {
    "srvr": "Zookeeper version: 3.8.0-x, built on today\nMode: standalone\n",
    "mntr": "zk_version\t3.8.0\nzk_watch_count\t1\n",
    "cons": " /127.0.0.1:5[0](queued=0,recved=1,sent=0)\n\n",
    "wchs": "1 connections watching 1 paths\nTotal watches:1\n",
    "wchc": "0x1\n\t/a\n\n",
    "conf": "tickTime=2000\n",
    "dump": "SessionTracker dump:\nSession Sets (0)/(0):\nephemeral nodes dump:\n"
    "Sessions with Ephemerals (1):\n0x1:\n\t/a\nConnections dump:\n",
}


def facts_from(words: dict[str, str], clock: ServerClock | None = None) -> Sample:
    """The facts about a server that gives these answers to words."""
    with listener(speaks(words)) as address:
        hosts = parse_hosts(str(address))
        way = SampleSettings(
            address,
            hosts,
            None,
            AdminAccess(),
            None,
            large_tables=False,
            count_bytes=lambda _: None,
        )
        return by_words(way, clock or ServerClock())
