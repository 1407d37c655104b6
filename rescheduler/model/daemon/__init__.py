"""What a daemon remembers and tells: its ledger, its rounds, its notices."""
