"""Fast tests without a cluster; the folders mirror rescheduler/."""
