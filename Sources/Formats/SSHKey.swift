package import Sealing

/// A private key without a passphrase in OpenSSH's own format, as written by ssh-keygen (OpenSSH's PROTOCOL.key).
package struct SSHKey: ~Copyable {
    /// The key types that an agent accepts and that need no hardware.
    package enum KeyType: String, CaseIterable, Sendable {
        case ed25519 = "ssh-ed25519"
        case rsa = "ssh-rsa"
        case ecdsa256 = "ecdsa-sha2-nistp256"
        case ecdsa384 = "ecdsa-sha2-nistp384"
        case ecdsa521 = "ecdsa-sha2-nistp521"

        /// The number of fields that follow the type in a private key.
        fileprivate var fieldCount: Int {
            switch self {
            case .ed25519: 2
            case .rsa: 6
            case .ecdsa256, .ecdsa384, .ecdsa521: 3
            }
        }
    }

    package let type: KeyType
    package let comment: String
    /// The private key's type and fields, in the encoding that the file and the agent share.
    let fields: SecretBytes
}

package enum SSHKeyFile: ~Copyable {
    case key(SSHKey)
    /// A key in OpenSSH's format that is encrypted with a passphrase.
    case encrypted
    /// A PEM file in another format, such as PKCS#1 or PKCS#8.
    case otherFormat
    /// A key of a type that needs hardware, or that OpenSSH no longer supports.
    case unsupported

    /// - Throws: ``FormatError`` if the text is not a private key; ``SealingError`` if there is no guarded memory left.
    package init(_ text: borrowing SecretBytes) throws {
        switch try text.withUnsafeBytes({ try PEMText(first: $0) }) {
        case .none: throw FormatError("it does not begin with a line such as -----BEGIN OPENSSH PRIVATE KEY-----")
        case .otherLabel: self = .otherFormat
        case .openSSH(let binary): self = try binary.withUnsafeBytes { try SSHKeyFile(binary: $0) }
        }
    }

    private init(binary: UnsafeRawBufferPointer) throws {
        var reader = SSHReader(binary)
        guard try reader.bytes(15).elementsEqual("openssh-key-v1\0".utf8) else {
            throw FormatError("it is not in OpenSSH's private key format")
        }
        guard try reader.string().elementsEqual("none".utf8) else {
            self = .encrypted
            return
        }
        // The key derivation's name and options are skipped, because they have no meaning without a cipher.
        _ = try reader.string()
        _ = try reader.string()
        guard try reader.integer() == 1 else { throw FormatError("it contains more than one key") }
        _ = try reader.string()
        let privatePart = try reader.string()
        guard reader.isAtEnd else { throw FormatError("there are bytes after the key") }
        guard let key = try SSHKey(privatePart: privatePart) else {
            self = .unsupported
            return
        }
        self = .key(key)
    }
}

extension SSHKey {
    /// Parses the private part. Returns nil if the key's type is not a ``KeyType``.
    fileprivate init?(privatePart: UnsafeRawBufferPointer) throws {
        var reader = SSHReader(privatePart)
        guard try reader.integer() == reader.integer() else { throw FormatError("its two check numbers differ") }
        let start = reader.position
        let name = String(decoding: try reader.string(), as: UTF8.self)
        guard let type = KeyType(rawValue: name) else { return nil }
        for _ in 0..<type.fieldCount { _ = try reader.string() }
        let fields = UnsafeRawBufferPointer(rebasing: privatePart[start..<reader.position])
        let comment = String(decoding: try reader.string(), as: UTF8.self)
        // After the key, the bytes 1, 2, 3 and so on pad the last block of the cipher.
        guard zip(try reader.rest(), 1...).allSatisfy({ Int($0) == $1 }) else {
            throw FormatError("its padding is wrong")
        }
        self.init(type: type, comment: comment, fields: try SecretBytes(copyOf: fields))
    }
}

/// The first PEM block in the input, that is, the base64-decoded bytes between its BEGIN and END lines.
private enum PEMText: ~Copyable {
    case none, otherLabel
    case openSSH(SecretBytes)

    private static let begin = Array("-----BEGIN OPENSSH PRIVATE KEY-----".utf8)
    private static let end = Array("-----END OPENSSH PRIVATE KEY-----".utf8)

    init(first text: UnsafeRawBufferPointer) throws {
        let whiteSpace = Array(" \t\r\n".utf8)
        let text = text.drop { whiteSpace.contains($0) }
        guard text.starts(with: PEMText.begin) else {
            self = text.starts(with: "-----BEGIN ".utf8) ? .otherLabel : .none
            return
        }
        let body = text.dropFirst(PEMText.begin.count)
        guard let dash = body.firstIndex(of: UInt8(ascii: "-")), body[dash...].starts(with: PEMText.end) else {
            throw FormatError("its END line is missing or malformed")
        }
        var digits = try SecretBytes(zeros: body[..<dash].count { !whiteSpace.contains($0) })
        digits.withUnsafeMutableBytes { digits in
            for (index, digit) in body[..<dash].lazy.filter({ !whiteSpace.contains($0) }).enumerated() {
                digits[index] = digit
            }
        }
        self = .openSSH(try PEMText.decoded(digits))
    }

    private static func decoded(_ digits: borrowing SecretBytes) throws -> SecretBytes {
        let padding = digits.withUnsafeBytes { $0.suffix(2).count { $0 == UInt8(ascii: "=") } }
        guard let size = Base64.size(ofDigits: digits.count - padding) else { throw FormatError("it is not base64") }
        var bytes = try SecretBytes(zeros: size)
        let isValid = digits.withUnsafeBytes { digits in
            bytes.withUnsafeMutableBytes { Base64.decode(digits, padding: .equalSigns, into: $0) }
        }
        guard isValid else { throw FormatError("it is not base64") }
        return bytes
    }
}

/// A reader of numbers and strings in the SSH protocols' encoding (RFC 4251, section 5). It copies nothing. Each call
/// returns a value or throws, whatever the input.
struct SSHReader {
    private let buffer: UnsafeRawBufferPointer
    private(set) var position = 0

    init(_ buffer: UnsafeRawBufferPointer) { self.buffer = buffer }
    var isAtEnd: Bool { position == buffer.count }

    mutating func bytes(_ count: Int) throws(FormatError) -> UnsafeRawBufferPointer {
        guard count <= buffer.count - position else { throw FormatError("it is truncated") }
        defer { position += count }
        return UnsafeRawBufferPointer(rebasing: buffer[position..<position + count])
    }

    mutating func integer() throws(FormatError) -> UInt32 { try bytes(4).reduce(0) { $0 << 8 | UInt32($1) } }
    mutating func string() throws(FormatError) -> UnsafeRawBufferPointer { try bytes(Int(integer())) }
    mutating func rest() throws(FormatError) -> UnsafeRawBufferPointer { try bytes(buffer.count - position) }
}
