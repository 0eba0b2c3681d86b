"""SchedMate's front door: command line, settings, and the assembly of the packages."""

__version__ = "0.1.0"
SETTINGS_FILE = "/etc/schedmate/schedmate.toml"
"""Default settings file."""
