"""All settings: their types, their sources, and the example file."""
