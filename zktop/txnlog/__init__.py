"""Reads ZooKeeper's own files: transaction logs and snapshots become records, a tree, facts.

All but `data_files` is pure: bytes in, values out. Times and zxids are those of the files.
"""
