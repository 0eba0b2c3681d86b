"""How lines of training logs are written: the prefix of a message, numbers, units, names and fields.

The line classifier and the metric tracker both read by it.
"""
