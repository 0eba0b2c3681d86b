"""A stage and a notification channel."""
