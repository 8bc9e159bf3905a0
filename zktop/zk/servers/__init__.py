"""What the servers say about themselves: watch tables, connections, four-letter words."""
