"""Runs zktop: connects, watches, and joins reports, screens and contenders."""
