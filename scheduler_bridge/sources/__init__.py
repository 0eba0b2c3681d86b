"""Reads the source trees of jobs: untrusted files, with limits, in a process of its own. No file of a tree is run or written."""
