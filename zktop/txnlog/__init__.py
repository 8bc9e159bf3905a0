"""Reads ZooKeeper's own files: turns transaction logs and snapshots into a tree, and into facts.

All modules but `data_files` are pure: bytes in, values out. Times and zxids come from the files.
"""
