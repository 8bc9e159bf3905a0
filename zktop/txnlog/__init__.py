"""Reads ZooKeeper's own files: turns transaction logs and snapshots into a tree, and into facts.

Only `data_files` touches the disk. Times and zxids come from the files.
"""
