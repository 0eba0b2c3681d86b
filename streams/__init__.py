"""What moves: topics, producers and the runtimes that call the processors. Knows nothing of how a line is understood."""
