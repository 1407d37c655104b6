"""May we really? Eligibility, budgets and the gate; pure."""
