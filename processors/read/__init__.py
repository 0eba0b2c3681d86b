"""Reading logs of formats that nobody has described: number columns become series, and one assignment of roles explains them.

`series` turns lines into templates with number columns, `roles` names what a column may be, a proposer says how likely each is,
and the solver chooses the assignment that agrees with itself and with the clock.
"""
