"""How lines of training logs are written: what stands before a message, numbers, units, names and fields.

The line classifier and the metric tracker both read by it.
"""
