"""How right `schedmate starts` is: what waiting jobs would have been told, against the starts that came."""
