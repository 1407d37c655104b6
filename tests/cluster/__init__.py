"""A real Kubernetes control plane for tests: etcd, the API server, controllers, scheduler and kwok on loopback.

Here stands what every room speaks with: the API as tests see it, shapes of objects, scenes, the command line.
``plane`` is the control plane itself and ``building`` makes its programs; each further room asks one question of it.
"""
