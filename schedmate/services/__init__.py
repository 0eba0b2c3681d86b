"""Long-running commands, put together: what each reads, writes and serves."""
