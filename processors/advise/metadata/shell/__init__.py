"""Shell scripts, read as far as a launch needs; nothing is run."""

from .scripts import commands, is_script
from .state import ShellCommand

__all__ = ["ShellCommand", "commands", "is_script"]
