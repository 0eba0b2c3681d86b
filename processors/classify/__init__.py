"""Line classifier: error, warning, progress or other (SchedMate §3.2)."""
