public import Sealing

/// Shows what a plugin says, and answers what it asks.
///
/// The texts come from another program. They have no control characters but line feeds, which could make a text look
/// like several: show it as the plugin's, in quotation marks and on one line.
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

    /// Tells that a plugin has been silent for five seconds, and is waited for: it may wait for a touch. Called once
    /// for each start of a plugin.
    func waiting(forPlugin plugin: String)

    /// Tells that the command that gives a key has not answered for five seconds, and is waited for.
    func waiting(forCommand command: String)
}

extension PluginPrompter {
    /// Tells nothing.
    public func waiting(forPlugin plugin: String) {}

    /// Tells nothing.
    public func waiting(forCommand command: String) {}
}

/// Shows nothing and answers nothing.
package struct NoPrompts: PluginPrompter {
    package init() {}

    package func message(_ text: String, from plugin: String) -> Bool { false }
    package func confirm(_ text: String, yes: String, no: String?, from plugin: String) -> Bool? { nil }
    package func requestPublic(_ text: String, from plugin: String) -> String? { nil }
    package func requestSecret(_ text: String, from plugin: String) -> SecretBytes? { nil }
}
