"""The scheduling advisor: how long a job will run, told before it starts."""
