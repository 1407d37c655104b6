"""May this pod sit on this node? One kube-scheduler predicate a file."""
