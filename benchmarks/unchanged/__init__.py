"""Whether two versions of the program give the same answers: records what each says, and compares."""
