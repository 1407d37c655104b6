"""Local search: a placement is improved move by move, whatever the objective."""
