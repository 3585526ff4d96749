// Re-exports the modules that a program needs when it imports Vault.

@_exported public import PlainStores
@_exported public import Sealing

@_exported public import protocol Age.PluginPrompter
