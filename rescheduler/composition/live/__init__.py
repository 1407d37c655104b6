"""What reads or changes a live cluster: its reader, ledger, lease and rights, and the run that carries a plan out."""
