import Vault

/// How `get` writes a value.
enum ValueForm {
    /// `auto`, `yes` or `no`, as given to `--newline`.
    enum Newline: String, CaseIterable {
        case auto, yes, no
    }

    /// The bytes for standard output, other than the value itself; nil where they are the value as it is, so that it
    /// need not be copied.
    ///
    /// - `yes` adds a newline always, `no` never; `auto` on a terminal, unless the value ends with one.
    static func rendered(_ value: borrowing SecretBytes, newline: Newline, onTerminal: Bool) throws -> SecretBytes? {
        let adds = value.withUnsafeBytes { addsNewline(to: $0, newline, onTerminal: onTerminal) }
        guard onTerminal || adds else { return nil }
        return try value.withUnsafeBytes { bytes in
            try SecretBytes(composing: { put in
                if onTerminal { Escaping.terminal(bytes, put) } else { bytes.forEach(put) }
                if adds { put(UInt8(ascii: "\n")) }
            })
        }
    }

    /// `{"name":"u.token","value":"..."}` and a newline; with `value_base64` where the value is not UTF-8.
    static func json(_ value: borrowing SecretBytes, name: String) throws -> SecretBytes {
        let name = Escaping.json(name)
        return try value.withUnsafeBytes { bytes in
            let isText = UTF8Walk.isValid(bytes)
            return try SecretBytes(composing: { put in
                #"{"name":""#.utf8.forEach(put)
                name.forEach(put)
                (isText ? #"","value":""# : #"","value_base64":""#).utf8.forEach(put)
                if isText { Escaping.json(bytes, put) } else { Base64.encode(bytes, put) }
                "\"}\n".utf8.forEach(put)
            })
        }
    }

    private static func addsNewline(to bytes: UnsafeRawBufferPointer, _ newline: Newline, onTerminal: Bool) -> Bool {
        switch newline {
        case .yes: true
        case .no: false
        case .auto: onTerminal && bytes.last != UInt8(ascii: "\n")
        }
    }
}
