"""Reports as Prometheus metrics: the current state, and counters since the start."""
