"""Clients of schedulers, one folder each: commands, time limits, parsing, errors.

The producers that watch a scheduler and the actuators that change its jobs both use them, and neither imports the other. So they
stand beside `records`, below both.
"""
