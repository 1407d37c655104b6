"""The fragment rate of VMs on hosts: planned on arrays by column generation, judged, and read."""
