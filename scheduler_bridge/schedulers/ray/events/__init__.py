"""Job events from Ray, by looks at the list of its Jobs API."""
