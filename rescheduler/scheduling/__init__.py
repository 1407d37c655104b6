"""The predicted scheduler: filters, scores and choice over one cluster."""
