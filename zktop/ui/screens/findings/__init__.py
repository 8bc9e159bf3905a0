"""Screen 3: deadlocks and other findings."""
