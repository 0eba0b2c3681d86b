"""SchedMate's front door: command line, settings, and the assembly of the packages."""

__version__ = "0.1.0"
SETTINGS_FILE = "/etc/schedmate/schedmate.toml"
"""Where settings are read from, unless the command line or the environment names another file."""
