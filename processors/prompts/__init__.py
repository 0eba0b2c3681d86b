"""What language models are asked with: prompts, quoted lines, closed schemas."""

from .prompt import PreparedQuestion, Prompt, Schema

__all__ = ["PreparedQuestion", "Prompt", "Schema"]
