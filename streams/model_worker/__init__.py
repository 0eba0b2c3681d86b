"""Answers questions to language models: the clients of the models, and the workers that read questions and write answers."""
