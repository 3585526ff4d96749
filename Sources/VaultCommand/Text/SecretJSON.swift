import Formats
import Vault

/// JSON with secrets for another program, composed in guarded memory. Object members keep their order.
enum SecretJSON {
    case number(Int)
    case text(String)
    case secret(HeldSecret)
    case object([(key: String, value: SecretJSON)])

    static func beginsObject(_ value: borrowing SecretBytes) -> Bool {
        value.withUnsafeBytes { $0.first == UInt8(ascii: "{") }
    }

    /// Creates a JSON object. Omits members whose value is nil.
    static func object(_ members: KeyValuePairs<String, SecretJSON?>) -> SecretJSON {
        .object(members.compactMap { member in member.value.map { (member.key, $0) } })
    }

    /// Returns the JSON as one line, or nil if a secret is not UTF-8, because JSON cannot represent it.
    func line() throws -> SecretBytes? {
        guard isText else { return nil }
        return try SecretBytes(composing: { put in
            emit(put)
            put(UInt8(ascii: "\n"))
        })
    }

    private var isText: Bool {
        switch self {
        case .number, .text: true
        case .secret(let secret): secret.bytes.withUnsafeBytes { $0.isUTF8 }
        case .object(let members): members.allSatisfy { $0.value.isText }
        }
    }

    private func emit(_ put: (UInt8) -> Void) {
        switch self {
        case .number(let number): number.description.utf8.forEach(put)
        case .text(let text):
            put(UInt8(ascii: "\""))
            Escaping.json(text).forEach(put)
            put(UInt8(ascii: "\""))
        case .secret(let secret):
            put(UInt8(ascii: "\""))
            secret.bytes.withUnsafeBytes { Escaping.json($0, put) }
            put(UInt8(ascii: "\""))
        case .object(let members):
            put(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { put(UInt8(ascii: ",")) }
                SecretJSON.text(member.key).emit(put)
                put(UInt8(ascii: ":"))
                member.value.emit(put)
            }
            put(UInt8(ascii: "}"))
        }
    }
}
