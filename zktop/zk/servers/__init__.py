"""What servers report about themselves: watch tables, connections, sessions, expiry."""
