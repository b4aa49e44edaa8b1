"""Record batches (format v2): zero-copy headers, checks, records, compression. No IO."""
