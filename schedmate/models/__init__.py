"""Language models: which one the settings name, a check of one, and a server for one."""
