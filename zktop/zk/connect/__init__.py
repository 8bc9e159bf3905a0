"""Addresses, login, and a client that only reads."""
