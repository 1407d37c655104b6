"""The policy's own disruption budgets: whom each covers, its status, what it leaves. Start at ``budget_status.py``."""
