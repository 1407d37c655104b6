"""Carries a plan out wave by wave, and checks what it promised; through protocols only."""
