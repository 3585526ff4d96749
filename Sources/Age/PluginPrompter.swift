public import Sealing

/// Shows a plugin's messages, and answers its questions.
///
/// The texts come from another program. They have no control characters except line feeds. A line feed could make one
/// text look like several, so show each text in quotation marks, on one line, as the plugin's.
public protocol PluginPrompter: Sendable {
    /// Shows a message, for example a request to touch a key. Returns false if it cannot be shown.
    func message(_ text: String, from plugin: String) -> Bool

    /// Offers a choice between two answers. If `no` is nil, the only other choice is to refuse. Returns whether the
    /// first one was chosen; nil if there is nobody to ask.
    func confirm(_ text: String, yes: String, no: String?, from plugin: String) -> Bool?

    /// Requests a text that may be shown while it is typed. Returns nil if there is no answer.
    func requestPublic(_ text: String, from plugin: String) -> String?

    /// Requests a secret, such as a PIN. Returns nil if there is no answer.
    func requestSecret(_ text: String, from plugin: String) -> SecretBytes?

    /// Reports that a plugin has been silent for five seconds and may be waiting for a touch. Called at most once for
    /// each start of a plugin.
    func waiting(forPlugin plugin: String)

    /// Reports that the command that provides a key has not answered for five seconds.
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
