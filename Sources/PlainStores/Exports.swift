// Re-exported because the interfaces of stores and keys use StoredValue.
@_exported public import PropertyList
