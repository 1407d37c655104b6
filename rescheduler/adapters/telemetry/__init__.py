"""What a daemon tells: a log, metrics, Events in the cluster, an audit file, traces; each hears the same notices."""
