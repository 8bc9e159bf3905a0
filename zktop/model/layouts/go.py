"""What Go clients write. Like Curator's names, but the uuid has no dashes."""

from typing import Final

from zktop.model.layouts.layout import ClientSight, Layout

GO: Final = (
    Layout(
        name="go-lock",
        pattern="^_c_(?P<id>{H32})-lock-{SEQ}$",
        ties="share",
        id_is="token",
        watches_negative=False,
        # Whoever wrote a name, it must read a number in it; else Lock() fails.
        sights=(
            ClientSight(
                counts="all",
                key="^(?:.*lock-|(?!.*lock-).*__)?(.*)$",
                compare="number",
                unread="fails",
                about="go-zookeeper/zk >= 1.0.3",
            ),
            ClientSight(
                counts="all",
                key="^(?:.*-|[^-]*__)?([^-]*)$",
                compare="number",
                unread="fails",
                about="go-zookeeper/zk 1.0.2",
            ),
            ClientSight(
                counts="all",
                key="^(?:.*-)?([^-]*)$",
                compare="number",
                unread="fails",
                about="go-zookeeper/zk <= 1.0.1, samuel/go-zookeeper, z-division/go-zookeeper",
            ),
        ),
        about="go-zookeeper/zk, samuel/go-zookeeper, z-division/go-zookeeper: Lock (Go)",
    ),
    Layout(
        name="go-rw",
        pattern="^_c_(?P<id>{H32})-(?P<mode>read|write)-{SEQ}$",
        modes={"read": "read", "write": "write"},
        watch="nearest",
        ties="share",
        id_is="token",
        about="A read/write lock on top of go-zookeeper (Go)",
    ),
)
