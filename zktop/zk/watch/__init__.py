"""Watches, discovery and polling: how zktop learns of changes."""
