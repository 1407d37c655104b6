"""Many tasks that need nothing of each other: a back-test over an archive, a plan for each of many clusters; engines.

``fleet_plan`` plans for each cluster by itself and read only; one that does not answer spoils nothing.
"""
