"""A back-test's document told as table, page or Parquet; all that is told stands in the document."""
