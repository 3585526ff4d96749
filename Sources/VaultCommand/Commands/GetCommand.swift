import Sealing
import Vault

enum GetCommand: Command {
    static let description = CommandDescription(
        name: .get, summary: "write a value to standard output",
        arguments: [.init(name: "NAME", completion: .secretName, help: "The name.")],
        options: [
            .init(
                name: .newline, value: "WHEN", choices: ValueForm.Newline.allCases.map(\.rawValue),
                help: "Add a newline: yes, no, or auto (default), which adds one on a terminal.")
        ],
        details: [
            """
            A pipe or file gets the exact bytes. On a terminal, control characters, invisible characters and bytes \
            that are not UTF-8 are shown as escapes such as \\x1b or \\u{200b}, and a newline is added if there is none.
            """,
            """
            What a program or `vault set --type` has stored as a date is written as UTC, to the millisecond; arrays \
            and dictionaries are written as JSON, where dates and data (base64) are strings. All other values are text \
            or bytes already.
            """,
        ],
        examples: [
            .init("vault get u.token", "show it"),
            .init("vault get ssh/key > key", "write it to a file, byte for byte"),
        ],
        exitCodes: [.init(.notFound, "no such name; a similar one is suggested")])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let keychain = try invocation.openVault()
        guard let stored = try keychain.reading(invocation.name) else { throw keychain.absent(invocation.name) }
        let value = try ValueText.shown(stored, of: invocation.name)
        let newline = invocation.value(of: .newline).flatMap(ValueForm.Newline.init) ?? .auto
        if invocation.wantsJSON {
            try ValueForm.json(value, name: invocation.name).withUnsafeBytes(StandardOutput.write)
        } else if let form = try ValueForm.rendered(value, newline: newline, onTerminal: StandardOutput.isTerminal) {
            try form.withUnsafeBytes(StandardOutput.write)
        } else {
            try value.withUnsafeBytes(StandardOutput.write)
        }
        return .success
    }
}

enum ValueForm {
    /// `auto` adds a newline on a terminal, unless the value ends with one.
    enum Newline: String, CaseIterable {
        case auto, yes, no
    }

    /// Returns the bytes for standard output; nil if they are the value itself, so that it need not be copied.
    static func rendered(_ value: borrowing SecretBytes, newline: Newline, onTerminal: Bool) throws -> SecretBytes? {
        try value.withUnsafeBytes { bytes in
            let adds = newline == .yes || newline == .auto && onTerminal && bytes.last != UInt8(ascii: "\n")
            guard onTerminal || adds else { return nil }
            return try SecretBytes(composing: { put in
                if onTerminal { Escaping.terminal(bytes, put) } else { bytes.forEach(put) }
                if adds { put(UInt8(ascii: "\n")) }
            })
        }
    }

    /// Returns `{"name":"u.token","value":"..."}` and a newline; with `value_base64` if the value is not UTF-8.
    static func json(_ value: borrowing SecretBytes, name: String) throws -> SecretBytes {
        try value.withUnsafeBytes { bytes in
            if bytes.isUTF8 { return try object(name, "value", bytes) }
            return try SecretBytes(base64Of: bytes).withUnsafeBytes { try object(name, "value_base64", $0) }
        }
    }

    private static func object(_ name: String, _ key: String, _ text: UnsafeRawBufferPointer) throws -> SecretBytes {
        let start = #"{"name":""#.utf8 + Escaping.json(name) + #"","\#(key)":""#.utf8
        return try SecretBytes(composing: { put in
            start.forEach(put)
            Escaping.json(text, put)
            "\"}\n".utf8.forEach(put)
        })
    }
}

extension SecretBytes {
    /// Puts what `write` emits into guarded memory of just that size. `write` runs twice, first to be counted.
    init(composing write: ((UInt8) -> Void) -> Void) throws {
        var count = 0
        write { _ in count += 1 }
        try self.init(unsafeCapacity: count) { buffer in
            var used = 0
            write {
                buffer[used] = $0
                used += 1
            }
            return used
        }
    }
}
