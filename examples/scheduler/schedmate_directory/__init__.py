"""A scheduler that keeps each job as a JSON file in a directory."""
