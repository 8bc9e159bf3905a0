"""What Go clients write. Like Curator's names, but the uuid has no dashes."""

from typing import Final

from zktop.model.layouts.layout import Layout

GO: Final = (
    Layout(
        name="go-lock",
        pattern="^_c_(?P<id>{H32})-lock-{SEQ}$",
        ties="share",
        id_is="token",
        watches_negative=False,
        # It reads the number behind `lock-`, else behind `__`, whoever wrote the name.
        sees=("kazoo-lock", "plain-lock", "guid-lock", "curator-mutex"),
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
