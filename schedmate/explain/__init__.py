"""One attempt of a job as a page that an operator would send to a colleague."""
