"""A real Kubernetes control plane for tests: etcd, the API server, controllers, scheduler and kwok on loopback."""
