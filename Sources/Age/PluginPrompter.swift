public import Sealing

/// Shows a plugin's messages to the user and returns the user's answers to its questions.
///
/// The strings come from another program. They contain no control characters except line feeds. A line feed could make
/// one string look like several, so show each on a single line, in quotation marks, and name the plugin as its source.
public protocol PluginPrompter: Sendable {
    /// Shows a message, such as a request to touch a security key. Returns false if the message cannot be shown.
    func message(_ text: String, from plugin: String) -> Bool

    /// Asks the user to choose between two answers. If `no` is nil, the only alternative to `yes` is to refuse. Returns
    /// whether the user chose `yes`; nil if no user can be asked.
    func confirm(_ text: String, yes: String, no: String?, from plugin: String) -> Bool?

    /// Requests input that may be visible while the user types it. Returns nil if the user does not answer.
    func requestPublic(_ text: String, from plugin: String) -> String?

    /// Requests a secret, such as a PIN. Returns nil if the user does not answer.
    func requestSecret(_ text: String, from plugin: String) -> SecretBytes?

    /// Reports, at most once per run, that a plugin has sent nothing for five seconds and may be waiting for a touch.
    func waiting(forPlugin plugin: String)

    /// Reports that the command that provides a key has not responded for five seconds.
    func waiting(forCommand command: String)
}

extension PluginPrompter {
    /// Does nothing.
    public func waiting(forPlugin plugin: String) {}

    /// Does nothing.
    public func waiting(forCommand command: String) {}
}

package struct NoPrompts: PluginPrompter {
    package init() {}
    package func message(_ text: String, from plugin: String) -> Bool { false }
    package func confirm(_ text: String, yes: String, no: String?, from plugin: String) -> Bool? { nil }
    package func requestPublic(_ text: String, from plugin: String) -> String? { nil }
    package func requestSecret(_ text: String, from plugin: String) -> SecretBytes? { nil }
}
