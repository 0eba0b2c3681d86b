"""Prompts for language models, with quoted lines and closed schemas."""

from .prompt import PreparedQuestion, Prompt, Schema

__all__ = ["PreparedQuestion", "Prompt", "Schema"]
