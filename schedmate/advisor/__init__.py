"""The advisor's history in a file, what fills it, and the service that answers submissions from it."""
