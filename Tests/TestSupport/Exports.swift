// The parts that users' tests need too are in VaultTesting: files that fail on demand, threads, folders.
@_exported public import VaultTesting
