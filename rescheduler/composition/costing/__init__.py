"""What a cluster costs, and what each rule costs: answered by plans with and without it. Nothing is written."""
