"""`zktop report`: what happened in a period, as JSON, Markdown, or one page of HTML."""
