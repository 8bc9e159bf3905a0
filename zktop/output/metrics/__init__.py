"""Reports as Prometheus metrics: counts of locks, what happened since the start, all families."""
