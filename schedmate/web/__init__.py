"""The page: jobs, verdicts and decisions in a browser, read from ClickHouse; operators act on it where that is turned on."""
