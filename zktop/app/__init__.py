"""Run zktop: connect, watch, and join reports, screens and contenders."""
