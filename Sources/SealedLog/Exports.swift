// The log's users also use the values, keys and errors of its format.

@_exported public import SealedFormat
