"""The two runtimes, Faust on Kafka and the single-process one, over one engine."""
