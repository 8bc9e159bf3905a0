"""Records a conversation with a server, so that two servers can be compared.

Values that must differ are replaced: session ids by names, passwords and times by placeholders,
zxids by their distance from the first one. The rest is the decoded bytes.
"""

import struct
import time

from sandbox.raw_client import RawClient

OPS = {
    "create": 1,
    "delete": 2,
    "exists": 3,
    "get": 4,
    "set": 5,
    "get-acl": 6,
    "set-acl": 7,
    "children": 8,
    "sync": 9,
    "ping": 11,
    "children2": 12,
    "check": 13,
    "multi": 14,
    "create2": 15,
    "reconfig": 16,
    "check-watches": 17,
    "remove-watches": 18,
    "container": 19,
    "ttl": 21,
    "multi-read": 22,
    "auth": 100,
    "set-watches": 101,
    "ephemerals": 103,
    "count": 104,
    "set-watches2": 105,
    "add-watch": 106,
    "who-am-i": 107,
    "close": -11,
    "unknown": 77,
}
STAT = struct.Struct(">qqqqiiiqiiq")
EVENTS = {1: "created", 2: "deleted", 3: "changed", 4: "children"}


class Body:
    """Decodes an answer; surplus bytes are shown, too."""

    def __init__(self, tape, body):
        """Start at the front."""
        self.tape, self.body, self.at = tape, body, 0

    def take(self, form):
        """One number or flag."""
        (value,) = struct.unpack_from(form, self.body, self.at)
        self.at += struct.calcsize(form)
        return value

    def buffer(self):
        """Bytes, or None."""
        length = self.take(">i")
        if length < 0:
            return None
        self.at += length
        return self.body[self.at - length : self.at]

    def string(self):
        """Text, or None."""
        value = self.buffer()
        return None if value is None else value.decode()

    def many(self, item):
        """A list."""
        return [item() for _ in range(self.take(">i"))]

    def stat(self):
        """A Stat: zxids, times, versions, owner, length, children."""
        values = STAT.unpack_from(self.body, self.at)
        self.at += STAT.size
        cz, mz, ct, mt, version, cversion, aversion, owner, length, children, pz = values
        zxids = "/".join(map(self.tape.zxid, (cz, mz, pz)))
        times = "/".join(map(_when, (ct, mt)))
        owner = self.tape.sessions.get(owner, owner)
        return f"z={zxids} t={times} v={version}/{cversion}/{aversion} {owner} {length} {children}"

    def acl(self):
        """One line of an access list."""
        return f"{self.take('>i')}:{self.string()}:{self.string()}"

    def identity(self):
        """One line of who-am-i."""
        return f"{self.string()}:{self.string()}"

    def results(self):
        """The parts of a multi."""
        shown = []
        while True:
            op, done, err = (self.take(f) for f in (">i", ">?", ">i"))
            if done:
                return [*shown, f"end {op} {err}"]
            decode = DECODE.get(op, lambda _: "") if op != -1 else lambda b: b.take(">i")
            shown.append((op, err, decode(self)))

    def event(self):
        """A notification."""
        kind, state = self.take(">i"), self.take(">i")
        return f"{EVENTS[kind]} {self.string()} state={state}"


DECODE = {
    1: Body.string,
    3: Body.stat,
    4: lambda b: (b.buffer(), b.stat()),
    5: Body.stat,
    6: lambda b: (sorted(b.many(b.acl)), b.stat()),
    7: Body.stat,
    8: lambda b: sorted(b.many(b.string)),
    9: Body.string,
    12: lambda b: (sorted(b.many(b.string)), b.stat()),
    14: Body.results,
    15: lambda b: (b.string(), b.stat()),
    19: lambda b: (b.string(), b.stat()),
    21: lambda b: (b.string(), b.stat()),
    22: Body.results,
    103: lambda b: sorted(b.many(b.string)),
    104: lambda b: b.take(">i"),
    106: lambda b: b.take(">i"),
    107: lambda b: sorted(b.many(b.identity)),
}


def _when(ms):
    return "0" if ms == 0 else "now" if abs(time.time() * 1000 - ms) < 60_000 else str(ms)


class Transcript:
    """Writes down requests and answers."""

    def __init__(self, port):
        """Start an empty transcript."""
        self.port = port
        self.lines = []
        self.sessions = {0: "-"}
        self.base = None

    def zxid(self, value):
        """A zxid as the distance from the first one seen."""
        if value <= 0:
            return str(value)
        if self.base is None:
            self.base = value
        return f"+{value - self.base}"

    def client(self, name, **options):
        """Connect one more client."""
        raw = RawClient(self.port, **options)
        self.sessions[raw.session] = name if raw.session else "-"
        self.lines.append(f"{name} connected, {raw.timeout_ms} ms, {self.sessions[raw.session]}")
        return RecordedClient(self, name, raw)


class RecordedClient:
    """One client whose conversation is written down."""

    def __init__(self, tape, name, raw):
        """Write into this transcript."""
        self.tape, self.name, self.raw = tape, name, raw

    def __call__(self, what, body=b"", about="", xid=None):
        """Send a request, and write down everything up to the answer."""
        self.tape.lines.append(f"{self.name}> {what} {about}".rstrip())
        for came in self.raw.ask(OPS[what], body, xid):
            self.write_down(came, OPS[what])

    def read_events(self):
        """Write down the events that have arrived, sorted by path where the order may vary."""
        *events, pong = self.raw.ask(11, xid=-2)
        start = len(self.tape.lines)
        for event in events:
            self.write_down(event, 11)
        self.tape.lines[start:] = sorted(self.tape.lines[start:])
        self.write_down(pong, 11)

    def ends(self):
        """Write down that the server closes the connection."""
        self.write_down(self.raw.read(), 0)
        self.raw.line.close()

    def write_down(self, came, op):
        """Write down one frame."""
        if came is None:
            self.tape.lines.append(f"{self.name}< connection closed")
            return
        body, shown = Body(self.tape, came.body), ""
        if came.body:
            shown = body.event() if came.xid == -1 else DECODE[op](body)
        rest = came.body[body.at :].hex()
        line = (
            f"{self.name}< {came.xid} z={self.tape.zxid(came.zxid)} err={came.err} {shown} {rest}"
        )
        self.tape.lines.append(line.rstrip())
