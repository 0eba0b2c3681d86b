"""Log formats: where they are stored, and the dialogue that teaches one."""
