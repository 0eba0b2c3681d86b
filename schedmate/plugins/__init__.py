"""Schedulers and embedders that distributions register as entry points."""
