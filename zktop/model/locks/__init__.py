"""Locks: holders, waiters, the order among them, and the watches they should have."""
