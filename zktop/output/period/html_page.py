"""A period as a self-contained HTML page that works offline.

The script in page.html draws everything from JSON. In the JSON each `<` is escaped, so no name can
end the script element, and the script sets names only as text. The content security policy allows
only this script, and nothing external.
"""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import Final
from zlib import compress

import msgspec

from zktop.output.period.timeline import TimelineJson
from zktop.output.period.words import Document

_SCRIPT: Final = '<script type="module">'
_DATA: Final = "@DATA@"  # placeholder in the template
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{}'"


class PageJson(msgspec.Struct, frozen=True):
    """The JSON in the page. `packed` is the timeline as JSON, deflated, in base64."""

    words: Document
    packed: str
    tool: str


def page(words: Document, timeline: TimelineJson, tool: str) -> bytes:
    packed = b64encode(compress(msgspec.json.encode(timeline), 9)).decode()
    content = PageJson(words, packed, tool)
    template = files("zktop.output.period").joinpath("page.html").read_text(encoding="utf-8")
    before, after = template.split(_DATA)
    script = after.partition(_SCRIPT)[2].partition("</script>")[0]
    policy = _POLICY.format(b64encode(sha256(script.encode()).digest()).decode())
    data = msgspec.json.encode(content).replace(b"<", rb"\u003c").decode()
    return f"{before.replace('@POLICY@', policy)}{data}{after}".encode()
