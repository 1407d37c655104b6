"""HTTP as metrics providers need it: bounded in time and size, credentials read anew, errors without secrets."""
