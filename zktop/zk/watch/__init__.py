"""Watches, discovery and polling: how changes reach the observer."""
