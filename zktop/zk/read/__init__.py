"""Requests that read znodes, and how many may be sent."""
