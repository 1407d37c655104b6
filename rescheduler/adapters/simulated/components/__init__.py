"""The embedded cluster's components: scheduler, kubelet, and the controllers that replace pods and count budgets."""
