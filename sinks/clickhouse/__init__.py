"""History: every record in ClickHouse, on a server or embedded, each exactly once."""
