"""Grammar of lines of training logs: the prefix of a message, numbers, units, names and fields.

The line classifier and the metric tracker use it.
"""
