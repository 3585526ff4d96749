import LinuxSystem
import Sealing

struct PluginAnswer: ~Copyable {
    let arguments: [String]
    let body: SecretBytes
}

/// Passes a plugin's messages and questions on to a prompter.
struct PluginPrompts {
    /// The maximum size of displayed text in bytes.
    private static let textLimit = 4_096

    let plugin: String
    let prompter: any PluginPrompter

    /// Returns the answer to a message; nil if the message is not meant for the user. Throws `plugin` or `outOfMemory`.
    func answer(to message: borrowing PluginMessage) throws(AgeError) -> PluginAnswer? {
        // Compute this text only when needed: some messages contain a file key, which must never become a String.
        var text: String { PluginPrompts.shown(message.body) }
        switch message.command {
        case "msg": return try answer(prompter.message(text, from: plugin) ? ["ok"] : ["fail"])
        case "confirm":
            let (yes, no) = try choices(of: message)
            guard let isChosen = prompter.confirm(text, yes: yes, no: no, from: plugin) else {
                return try answer(["fail"])
            }
            return try answer(["ok", isChosen ? "yes" : "no"])
        case "request-public":
            guard let reply = prompter.requestPublic(text, from: plugin) else { return try answer(["fail"]) }
            return PluginAnswer(arguments: ["ok"], body: try translated(SecretBytes(copyOf: Array(reply.utf8))))
        case "request-secret":
            guard let reply = prompter.requestSecret(text, from: plugin) else { return try answer(["fail"]) }
            return PluginAnswer(arguments: ["ok"], body: reply)
        default: return nil
        }
    }

    func error(_ body: borrowing SecretBytes) -> AgeError {
        let text = PluginPrompts.shown(body).split(separator: "\n").joined(separator: " ")
        return AgeError(.plugin, "the plugin age-plugin-\(plugin) reports \(text.isEmpty ? "an error" : text.quoted)")
    }

    private func answer(_ arguments: [String]) throws(AgeError) -> PluginAnswer {
        PluginAnswer(arguments: arguments, body: try translated(SecretBytes(zeros: 0)))
    }

    private func choices(of message: borrowing PluginMessage) throws(AgeError) -> (yes: String, no: String?) {
        let labels = message.arguments.dropFirst().map(PluginPrompts.label)
        guard (1...2).contains(labels.count), let yes = labels[0], let no = labels.last else {
            throw AgeError(.plugin, "the plugin age-plugin-\(plugin) does not follow the protocol: an invalid question")
        }
        return (yes, labels.count == 2 ? no : nil)
    }

    /// Decodes the label of an answer that the user can choose. Returns nil if the label is not base64.
    private static func label(_ digits: String) -> String? {
        guard let size = Base64.size(ofDigits: digits.utf8.count) else { return nil }
        guard let bytes = Base64.bytes(Array(digits.utf8), count: size) else { return nil }
        return bytes.withRawBytes(shown)
    }

    private static func shown(_ text: borrowing SecretBytes) -> String { text.withUnsafeBytes(shown) }

    /// Decodes the first ``textLimit`` bytes of a plugin's text. Replaces characters that could control a terminal or
    /// reorder the surrounding text, and turns unusual spaces into ordinary ones.
    private static func shown(_ text: UnsafeRawBufferPointer) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in String(decoding: text.prefix(textLimit), as: UTF8.self).unicodeScalars {
            switch scalar {
            case "\n": shown.append(scalar)
            case _ where !scalar.isUnsafeOnTerminal: shown.append(scalar)
            case _ where scalar.properties.generalCategory == .spaceSeparator: shown.append(" ")
            default: shown.append("\u{FFFD}")
            }
        }
        return String(shown)
    }
}
