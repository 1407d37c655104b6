"""May we really? Eligibility, budgets and the gate, all of them pure."""
