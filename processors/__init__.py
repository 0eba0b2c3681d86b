"""Log and metric processors: they take records and the state of a job, and return records. They use no Kafka, database or scheduler."""
