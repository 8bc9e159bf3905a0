"""Trees: who waits for whom, and all locks by path."""
