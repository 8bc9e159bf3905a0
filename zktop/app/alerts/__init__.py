"""Tell others about findings: run a command, post to webhooks."""
