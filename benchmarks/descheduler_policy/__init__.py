"""Random clusters and DeschedulerPolicies: the victims that are foretold beside those of the real descheduler."""
