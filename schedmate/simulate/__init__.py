"""A discrete-event simulator of GPU clusters: traces in, what each scheduling policy would have made of them out.

Deterministic: what is random is drawn from a seed before the events begin. It knows nothing of logs, Kafka or any live scheduler.
"""
