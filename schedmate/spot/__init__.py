"""The spot manager on a live cluster: what the scheduler shows becomes demand by organisation, and that a quota."""
