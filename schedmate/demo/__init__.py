"""`schedmate demo`: the product at work on live jobs, in one process, with no server."""
