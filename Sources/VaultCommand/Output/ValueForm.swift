import Sealing
import Vault

/// How `get` writes a value.
enum ValueForm {
    /// `auto`, `yes` or `no`, as given to `--newline`.
    enum Newline: String, CaseIterable {
        case auto, yes, no
    }

    /// Returns the bytes for standard output; nil if they are the value itself, so that it need not be copied.
    ///
    /// `yes` always adds a newline, `no` never, and `auto` on a terminal unless the value ends with one.
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

    /// Returns `{"name":"u.token","value":"..."}` and a newline; with `value_base64` if the value is not UTF-8.
    static func json(_ value: borrowing SecretBytes, name: String) throws -> SecretBytes {
        try value.withUnsafeBytes { bytes in
            if UTF8Walk.isValid(bytes) { return try object(name, "value", bytes) }
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

    private static func addsNewline(to bytes: UnsafeRawBufferPointer, _ newline: Newline, onTerminal: Bool) -> Bool {
        switch newline {
        case .yes: true
        case .no: false
        case .auto: onTerminal && bytes.last != UInt8(ascii: "\n")
        }
    }
}

extension SecretBytes {
    /// Puts all that `write` emits into guarded memory of just that size. `write` runs twice, the first time to be
    /// counted.
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
