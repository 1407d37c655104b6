"""DeschedulerPolicy files (descheduler/v1alpha2), and whom kubernetes-sigs/descheduler 0.36.0 would evict by them.

Its rules are followed as they are, faults included, so fit, spread and selectors of its own stand here, apart from
those of ``scheduling/``. Pure: a cycle is a function of the snapshot and the policy.
"""
