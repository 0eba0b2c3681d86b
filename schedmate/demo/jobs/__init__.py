"""The training programs of the demo, each run as a process of its own, each printing in another framework's manner."""
