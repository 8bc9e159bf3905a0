"""What zk-ruby writes: numbers without a separator, and without their sign when it sorts."""

from typing import Final

from zktop.model.layouts.layout import ClientSight, Layout

_DIGITS: Final = ClientSight(
    counts="all", key=r"0*(\d+)$", compare="number", unread="zero", bars="^ex"
)

RUBY: Final = (
    Layout(
        name="zkruby-rw",
        pattern="^(?P<mode>ex|sh){SEQ}$",
        modes={"ex": "exclusive", "sh": "read"},
        watch="nearest",
        how="exists",
        order="magnitude",
        sights=(_DIGITS,),
        ties="share",
        about="zk-ruby: exclusive and shared Locker (Ruby)",
    ),
    Layout(
        name="zkruby-semaphore",
        pattern="^sem{SEQ}$",
        mode="lease",
        watch="nearest",
        how="exists",
        order="magnitude",
        sights=(_DIGITS,),
        ties="share",
        about="zk-ruby: Semaphore; its size is stored nowhere (Ruby)",
    ),
    Layout(
        name="zkruby-election",
        pattern="^ballot{SEQ}$",
        how="exists",
        order="magnitude",
        sights=(ClientSight(counts="^ballot", key=r"(\d+)$", compare="number", unread="zero"),),
        kind="election",
        also_watches=("leader_ack",),
        about="zk-ruby: election; the winner creates leader_ack (Ruby)",
    ),
)
