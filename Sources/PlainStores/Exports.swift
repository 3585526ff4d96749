// Stores and keys are about its StoredValue.
@_exported public import PropertyList
