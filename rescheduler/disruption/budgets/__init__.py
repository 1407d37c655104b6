"""The policy's own disruption budgets: whom each covers, how it stands, what it leaves. Start at ``standing.py``."""
