"""How soon the page answers, over a database as large as a busy cluster's."""
