"""The API server: reading, deciding nothing, evicting, holding."""
