// What a program sees of the modules below when it imports Vault.

@_exported public import PlainStores
@_exported public import Sealing

@_exported public import protocol Age.PluginPrompter
