"""Reads stored and live logs in one process, without a server."""
