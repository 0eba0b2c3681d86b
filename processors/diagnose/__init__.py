"""Failure handler: locate the line, name the cause, say whether to start again (SchedMate §3.3)."""
