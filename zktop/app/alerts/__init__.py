"""Send findings to a command or a webhook: run a command, post to webhooks."""
