"""Screen 5: the timeline."""
