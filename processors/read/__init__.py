"""Reads logs of unknown formats: number columns become series, and one assignment of roles explains them.

`series` turns lines into templates with number columns, `roles` names the roles of a column, a proposer gives their probabilities,
and the solver chooses the assignment that agrees with itself and with the clock.
"""
