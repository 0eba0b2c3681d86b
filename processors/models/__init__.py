"""Clients of models, behind narrow protocols."""
