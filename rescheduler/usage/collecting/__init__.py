"""From providers' answers, tick by tick, to windows of samples."""
