"""Send findings to the user's command and to webhooks."""
