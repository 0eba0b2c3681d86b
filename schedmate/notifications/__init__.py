"""Messages to people: what was decided and done, why, by whose order and on which evidence. They never delay an action."""
