"""What policies would have done over an archive: one plan a task, or one history a task, summed up and compared.

A task names an archive and says a policy in text; its answer is small. Nothing here depends on where it is done.
"""
