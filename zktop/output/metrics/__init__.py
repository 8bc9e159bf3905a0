"""Reports as Prometheus metrics: the present state, and counters since the start."""
