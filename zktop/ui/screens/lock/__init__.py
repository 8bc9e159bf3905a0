"""Screen 2: one lock."""
