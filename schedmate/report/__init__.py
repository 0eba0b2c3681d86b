"""Shows an analysis to a person: in a terminal and as a page."""
