"""Messages to people: what was decided and done, why, by whom and on which evidence. They never stand in the way of acting."""
