"""Screen 6: demo scenes and contenders."""
