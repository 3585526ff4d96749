// Re-exported for StoredValue, which stores and keys work with.
@_exported public import PropertyList
