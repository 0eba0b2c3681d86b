"""SchedMate's front door: command line, settings, and the assembly of the rooms."""

__version__ = "0.1.0"
