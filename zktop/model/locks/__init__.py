"""Locks: who holds, who waits, who must go first, and who should watch what."""
