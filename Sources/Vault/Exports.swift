// Re-exports the modules that a program needs in addition to Vault.

@_exported public import PlainStores
@_exported public import Sealing

@_exported public import protocol Age.PluginPrompter
