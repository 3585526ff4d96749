import LinuxSystem
import Sealing

/// A program that wraps and unwraps file keys, by the protocol of c2sp.org/age-plugin: this process sends commands and
/// says `done`; then the plugin sends commands, each of which is answered, and says `done`.
///
/// Each of both is a stanza. The program is started anew for each file key.
struct Plugin {
    private static let stanzaLimit = 16

    let name: String
    let prompter: any PluginPrompter
    /// The folders in which the program is looked for, instead of those of PATH.
    var folders: String?
    /// How long it may be silent before a person is told.
    var patience = PatientWait.usualPatience

    /// Returns the stanzas for a recipient, at least one. Throws `plugin`, `malformed`, `outOfMemory`.
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
                throw session.broken("it sent a stanza that was not asked for")
            }
            stanzas.append(try Stanza(arguments: Array(message.arguments[2...]), body: message.body.unsafeArray()))
            try session.send(["ok"])
        }
        if let failure = session.failure { throw failure }
        guard !stanzas.isEmpty else { throw session.broken("it sent no stanza") }
        return stanzas
    }

    /// Returns the file key; nil if the identity unwraps none of the stanzas. Throws `plugin`, `outOfMemory`.
    ///
    /// - Parameter identity: its text.
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
                throw session.broken("it sent a file key that was not asked for")
            }
            fileKey = consume message.body
            try session.send(["ok"])
        }
        if fileKey == nil, let failure = session.failure { throw failure }
        return fileKey
    }
}
