"""The kernels against the filters and scores one by one."""
