public import Sealing

/// Shows what a plugin says, and answers what it asks.
///
/// The texts come from another program. They have no control characters but line feeds; show them as the plugin's.
public protocol PluginPrompter: Sendable {
    /// Shows a message, for example to touch a key. Returns false if it cannot be shown.
    func message(_ text: String, from plugin: String) -> Bool

    /// Asks to choose between two answers; without `no`, the other one is to refuse. Returns whether the first one was
    /// chosen; nil if nobody can be asked.
    func confirm(_ text: String, yes: String, no: String?, from plugin: String) -> Bool?

    /// Asks for a text that may be shown while it is typed; nil if there is no answer.
    func requestPublic(_ text: String, from plugin: String) -> String?

    /// Asks for a secret, such as a PIN; nil if there is no answer.
    func requestSecret(_ text: String, from plugin: String) -> SecretBytes?
}

/// Shows nothing and answers nothing.
package struct NoPrompts: PluginPrompter {
    package init() {}

    package func message(_ text: String, from plugin: String) -> Bool { false }
    package func confirm(_ text: String, yes: String, no: String?, from plugin: String) -> Bool? { nil }
    package func requestPublic(_ text: String, from plugin: String) -> String? { nil }
    package func requestSecret(_ text: String, from plugin: String) -> SecretBytes? { nil }
}
