import Vault

struct ValueForm {
    /// `auto` adds a newline to a value that lacks one, if standard output is a terminal or several values are written.
    enum Newline: String, CaseIterable { case auto, yes, no }

    static let newlineOption = OptionDescription(
        name: .newline, value: "WHEN", choices: Newline.allCases.map(\.rawValue),
        help: "Add a newline: yes, no, or auto (default), which adds one on a terminal.")

    let newline: Newline
    var isOnTerminal = StandardOutput.isTerminal
    /// Whether this is the only value that the command writes.
    var isAlone = true

    func write(_ value: borrowing SecretBytes) throws {
        if let form = try rendered(value) {
            try form.withUnsafeBytes(StandardOutput.write)
        } else {
            try value.withUnsafeBytes(StandardOutput.write)
        }
    }

    /// Returns the bytes to write to standard output, or nil if the value can be written unchanged.
    func rendered(_ value: borrowing SecretBytes) throws -> SecretBytes? {
        try value.withUnsafeBytes { bytes in
            let isOpen = bytes.last != UInt8(ascii: "\n")
            let adds = newline == .yes || newline == .auto && (isOnTerminal || !isAlone) && isOpen
            guard isOnTerminal || adds else { return nil }
            return try SecretBytes(composing: { put in
                if isOnTerminal { Escaping.terminal(bytes, put) } else { bytes.forEach(put) }
                if adds { put(UInt8(ascii: "\n")) }
            })
        }
    }

    /// Returns `{"name":"u.token","value":"..."}`, with `value_base64` instead of `value` if the value is not UTF-8.
    static func json(_ value: borrowing SecretBytes, name: String) throws -> SecretBytes {
        try value.withUnsafeBytes { bytes in
            if bytes.isUTF8 { return try object(name, "value", bytes) }
            return try SecretBytes(base64Of: bytes).withUnsafeBytes { try object(name, "value_base64", $0) }
        }
    }

    /// Returns a report as JSON, with a secret string added as its last member.
    static func json(_ report: JSONObject, _ key: String, _ text: borrowing SecretBytes) throws -> SecretBytes {
        // Removes the last two characters, the closing brace and the newline. They are appended again after the member.
        let start = Array(try report.line().utf8.dropLast(2)) + Array(#","\#(key)":""#.utf8)
        return try text.withUnsafeBytes { text in
            try SecretBytes(composing: { put in
                start.forEach(put)
                Escaping.json(text, put)
                "\"}\n".utf8.forEach(put)
            })
        }
    }

    private static func object(_ name: String, _ key: String, _ text: UnsafeRawBufferPointer) throws -> SecretBytes {
        let start = #"{"name":""#.utf8 + Escaping.json(name) + #"","\#(key)":""#.utf8
        return try SecretBytes(composing: { put in
            start.forEach(put)
            Escaping.json(text, put)
            "\"}".utf8.forEach(put)
        })
    }
}

extension Invocation {
    func finish(_ stored: consuming SealableValue, of name: String) throws -> ExitCode {
        try finish(ValueText.shown(stored, of: name), of: name, newline: newline)
    }

    func finish(_ value: borrowing SecretBytes, of name: String, newline: ValueForm.Newline) throws -> ExitCode {
        guard wantsJSON else {
            try ValueForm(newline: newline).write(value)
            return .success
        }
        try ValueForm.json(value, name: name).withUnsafeBytes(StandardOutput.write)
        try StandardOutput.write("\n")
        return .success
    }

    var newline: ValueForm.Newline { value(of: .newline).flatMap(ValueForm.Newline.init) ?? .auto }
}
