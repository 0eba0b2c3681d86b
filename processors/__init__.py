"""What thinks: records and a job's state in, records out. Knows no Kafka, no database, no scheduler."""
