"""A fixed conversation with a server; the answers of a real one are recorded."""

import sys

from sandbox import conversation_sessions, conversation_tree
from sandbox.conversation_log import Transcript
from servers import real_zookeeper

SCENES = (*conversation_tree.SCENES, *conversation_sessions.SCENES)


def play(port):
    """Run the whole conversation; return its lines."""
    tape = Transcript(port)
    a, b = tape.client("A"), tape.client("B", timeout_ms=99_999_999)
    a("ping", xid=-2)
    for scene in SCENES:
        tape.lines.append(f"# {scene.__name__}: {scene.__doc__}")
        scene(tape, a, b)
    a("close")
    a.ends()
    b.raw.line.close()
    return tape.lines


def main():
    """Record a real server: `PYTHONPATH=tests python -m sandbox.conversation`."""
    with real_zookeeper(tickTime=500) as server:
        sys.stdout.write("\n".join(play(server.port)) + "\n")


if __name__ == "__main__":
    main()
