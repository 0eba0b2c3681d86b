"""Kafka topics, producers and the runtimes that call the processors."""
