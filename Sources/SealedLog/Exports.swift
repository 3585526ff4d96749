// Code that imports this module also needs the values, keys and errors of the file format.

@_exported public import SealedFormat
