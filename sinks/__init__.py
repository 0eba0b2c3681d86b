"""What lasts: ClickHouse for history, Redis for now. Knows records, and not how they are made."""
