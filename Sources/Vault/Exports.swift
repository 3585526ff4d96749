// Re-exports the modules that a program which imports Vault also needs.

@_exported public import PlainStores
@_exported public import Sealing

@_exported public import protocol Age.PluginPrompter
