"""Marks with which users disable restarts of a job: a word in its comment (Slurm), an annotation (Kubernetes), metadata (Ray)."""

WORD = "schedmate-restart=no"
"""In a comment, among other words."""
ANNOTATION = "schedmate.io/restart"
"""Of an annotation, or of metadata, with the value `no`."""


def opts_out(comment: str) -> bool:
    """True where a comment holds the word."""
    return WORD in comment.split()
