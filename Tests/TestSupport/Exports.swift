// What is of use to users' tests too is there: files that fail on demand, threads, folders.
@_exported public import VaultTesting
