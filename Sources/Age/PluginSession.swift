import LinuxSystem
import Sealing

/// A message from a plugin: a stanza whose first argument is a command. Its guarded body may be a file key.
struct PluginMessage: ~Copyable {
    let arguments: [String]
    let body: SecretBytes

    var command: String { arguments.first ?? "" }
}

/// A conversation with a running plugin. If the plugin has questions for the user, the prompter asks them.
struct PluginSession: ~Copyable {
    /// The maximum size in bytes of a message from the plugin.
    private static let sizeLimit = 64 << 10
    private static let countLimit = 1_000

    /// The first error that the plugin reported. The plugin may still succeed, and sends `done` either way.
    private(set) var failure: AgeError?

    private var process: PluginProcess
    private let prompts: PluginPrompts
    private var wait: PatientWait
    /// The received bytes that have not been parsed as messages yet.
    private var received: SecretBytes
    private var receivedCount = 0
    private var messageCount = 0

    /// Starts the plugin. Throws `plugin` or `outOfMemory`.
    init(_ plugin: Plugin, stateMachine: String) throws(AgeError) {
        let received = try translated(SecretBytes(zeros: PluginSession.sizeLimit))
        process = try PluginProcess(plugin.name, in: plugin.folders, stateMachine: stateMachine)
        self.received = received
        prompts = PluginPrompts(plugin: plugin.name, prompter: plugin.prompter)
        let (name, prompter) = (plugin.name, plugin.prompter)
        wait = PatientWait(plugin.patience) { prompter.waiting(forPlugin: name) }
    }

    mutating func send(_ arguments: [String]) throws(AgeError) {
        try send(arguments, body: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    mutating func send(_ arguments: [String], body: borrowing SecretBytes) throws(AgeError) {
        try body.withUnsafeBytes { (body) throws(AgeError) in try send(arguments, body: body) }
    }

    mutating func send(_ arguments: [String], body: UnsafeRawBufferPointer) throws(AgeError) {
        var text = try translated(SecretBytes(zeros: StanzaText.size(arguments, bodySize: body.count), isKey: true))
        do throws(SealingError) {
            try text.withUnsafeMutableBytes { (text) throws(SealingError) in
                try StanzaText.write(arguments, body: body, into: text)
            }
        } catch { throw AgeError(error) }
        try send(text)
    }

    mutating func send(_ command: String, secret argument: borrowing SecretBytes) throws(AgeError) {
        let start = Array("-> \(command) ".utf8)
        var text = try translated(SecretBytes(zeros: start.count + argument.count + 2, isKey: true))
        text.withUnsafeMutableBytes { text in
            text.copyBytes(from: start)
            argument.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: text[start.count...]).copyMemory(from: $0)
            }
            // The first line feed ends the stanza's line of arguments. The second one represents an empty body.
            for index in text.indices.suffix(2) { text[index] = UInt8(ascii: "\n") }
        }
        try send(text)
    }

    private mutating func send(_ text: borrowing SecretBytes) throws(AgeError) {
        try text.withUnsafeBytes { (text) throws(AgeError) in
            var done = 0
            while done < text.count { done += try exchange(UnsafeRawBufferPointer(rebasing: text[done...])) }
        }
        wait.restart()
    }

    /// Sends bytes or stores received bytes, whichever is possible first. Returns the number of bytes sent, possibly 0.
    private mutating func exchange(_ bytes: UnsafeRawBufferPointer) throws(AgeError) -> Int {
        guard receivedCount < received.count else { throw broken("it sent a message that is too large") }
        let (sent, count) = try received.withUnsafeMutableBytes { (received) throws(AgeError) in
            try process.exchange(bytes, UnsafeMutableRawBufferPointer(rebasing: received[receivedCount...]), &wait)
        }
        receivedCount += count
        return sent
    }

    /// Returns the next message for the caller to answer; nil if the plugin is done. Throws `plugin` or `outOfMemory`.
    mutating func next() throws(AgeError) -> PluginMessage? {
        while true {
            messageCount += 1
            guard messageCount <= PluginSession.countLimit else { throw broken("it sent too many messages") }
            let message = try receive()
            if message.command == "done" { return nil }
            if message.command == "error" {
                if failure == nil { failure = prompts.error(message.body) }
                try send(["ok"])
            } else if let answer = try prompts.answer(to: message) {
                try send(answer.arguments, body: answer.body)
            } else {
                return message
            }
        }
    }

    func broken(_ how: String) -> AgeError {
        AgeError(.plugin, "the plugin \(process.program) does not follow the protocol: \(how)")
    }

    private mutating func receive() throws(AgeError) -> PluginMessage {
        while true {
            if let message = try messageReceived() { return message }
            _ = try exchange(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    /// Removes and returns the first complete message from the received bytes; nil if none is complete.
    private mutating func messageReceived() throws(AgeError) -> PluginMessage? {
        let count = receivedCount
        do throws(AgeError) {
            let text = try received.withUnsafeBytes { (received) throws(AgeError) in
                try StanzaText(UnsafeRawBufferPointer(rebasing: received[..<count]), at: 0)
            }
            guard let text else { return nil }
            var body = try translated(SecretBytes(zeros: text.bodySize, isKey: true))
            try received.withUnsafeMutableBytes { (received) throws(AgeError) in
                try body.withUnsafeMutableBytes { (body) throws(AgeError) in
                    try text.decodeBody(of: UnsafeRawBufferPointer(received), into: body)
                }
                let rest = UnsafeRawBufferPointer(rebasing: received[text.end..<count])
                received.copyMemory(from: rest)
                Wiping.wipe(UnsafeMutableRawBufferPointer(rebasing: received[rest.count..<count]))
            }
            receivedCount -= text.end
            return PluginMessage(arguments: text.arguments, body: body)
        } catch { throw error.code == .malformed ? broken(error.detail) : error }
    }
}
