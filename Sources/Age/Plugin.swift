import LinuxSystem
import Sealing

/// A program that wraps and unwraps file keys, following the protocol of c2sp.org/age-plugin. This process first sends
/// commands, and then `done`. The plugin then does the same, and this process answers each of its commands.
///
/// Each command and each answer is a stanza. The program is started separately for each file key.
struct Plugin {
    private static let stanzaLimit = 16

    let name: String
    let prompter: any PluginPrompter
    /// The folders in which to search for the program; nil for the folders in PATH.
    var folders: String?
    /// How long the plugin may stay silent before the user is notified.
    var patience = PatientWait.usualPatience

    /// Returns one or more stanzas that wrap the file key. Throws `plugin`, `malformed` or `outOfMemory`.
    func wrap(_ fileKey: borrowing SecretBytes, to recipient: String) throws(AgeError) -> [Stanza] {
        guard fileKey.count == FileKey.size else { throw FileKey.wrongSize }
        guard StanzaText.areWritable([recipient]) else { throw .malformed("the recipient is invalid") }
        var session = try PluginSession(self, stateMachine: "recipient-v1")
        try session.send(["add-recipient", recipient])
        try session.send(["wrap-file-key"], body: fileKey)
        try session.send(["done"])
        var stanzas: [Stanza] = []
        while let message = try session.next() {
            guard message.command == "recipient-stanza" else {
                try session.send(["unsupported"])
                continue
            }
            guard message.arguments.count > 2, message.arguments[1] == "0", stanzas.count < Plugin.stanzaLimit else {
                throw session.broken("it sent an unexpected stanza")
            }
            stanzas.append(try Stanza(arguments: Array(message.arguments[2...]), body: message.body.unsafeArray()))
            try session.send(["ok"])
        }
        if let failure = session.failure { throw failure }
        guard !stanzas.isEmpty else { throw session.broken("it sent no stanza") }
        return stanzas
    }

    /// Returns the file key; nil if the identity unwraps none of the stanzas. Throws `plugin` or `outOfMemory`.
    ///
    /// - Parameter identity: the identity's text.
    func unwrap(_ stanzas: [Stanza], with identity: borrowing SecretBytes) throws(AgeError) -> SecretBytes? {
        var session = try PluginSession(self, stateMachine: "identity-v1")
        try session.send("add-identity", secret: identity)
        for stanza in stanzas {
            try stanza.body.withRawBytes { (body) throws(AgeError) in
                try session.send(["recipient-stanza", "0"] + stanza.arguments, body: body)
            }
        }
        try session.send(["done"])
        var fileKey: SecretBytes?
        while let message = try session.next() {
            guard message.command == "file-key" else {
                try session.send(["unsupported"])
                continue
            }
            guard message.arguments == ["file-key", "0"], message.body.count == FileKey.size, fileKey == nil else {
                throw session.broken("it sent an unexpected file key")
            }
            fileKey = consume message.body
            try session.send(["ok"])
        }
        if fileKey == nil, let failure = session.failure { throw failure }
        return fileKey
    }
}
