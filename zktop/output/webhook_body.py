"""The JSON that webhooks receive: alerts as Alertmanager sends them."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from zktop.output.finding_alerts import WebhookAlert


class WebhookBody(msgspec.Struct, frozen=True, rename="camel"):
    """The request body, as receivers of Alertmanager webhooks expect it."""

    status: Literal["firing", "resolved"]
    alerts: Sequence[WebhookAlert]
    group_labels: dict[str, str]
    common_labels: dict[str, str]
    group_key: str
    common_annotations: dict[str, str] = {}
    version: str = "4"
    receiver: str = "zktop"
    truncated_alerts: int = 0
    external_url: str = msgspec.field(name="externalURL", default="")


def webhook_body(alerts: Sequence[WebhookAlert], cluster: str) -> bytes:
    is_firing = any(alert.status == "firing" for alert in alerts)
    common = set.intersection(*(set(alert.labels.items()) for alert in alerts))
    body = WebhookBody(
        status="firing" if is_firing else "resolved",
        alerts=alerts,
        group_labels={"cluster": cluster},
        common_labels=dict(sorted(common)),
        group_key=f"{{}}:{{cluster={msgspec.json.encode(cluster).decode()}}}",
    )
    return msgspec.json.encode(body)
