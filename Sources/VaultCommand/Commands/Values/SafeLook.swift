import FoundationEssentials
import Sealing
import Vault

/// The part of a value that `get` shows: the whole value, its fingerprint, or its last characters.
enum SafeLook {
    case value, fingerprint
    case last(Int)

    /// The minimum number of characters that `--last` leaves hidden. Fewer could be guessed.
    private static let hidden = 8

    init(_ invocation: Invocation) throws(UsageError) {
        let last = try invocation.number(of: .last)
        switch (invocation.has(.fingerprint), last) {
        case (true, .some): throw .oneLookOnly
        case (true, nil): self = .fingerprint
        case (false, let count?):
            guard count <= 8 else { throw .tooManyCharacters }
            self = .last(count)
        case (false, nil): self = .value
        }
    }

    func seen(_ value: consuming SecretBytes, of name: String, in keychain: Keychain) throws -> SecretBytes {
        switch self {
        case .value: return value
        case .fingerprint: return try SecretBytes(utf8: keychain.fingerprint(ofValue: value))
        case .last(let count): return try SafeLook.last(count, of: value, name)
        }
    }

    private static func last(_ count: Int, of value: borrowing SecretBytes, _ name: String) throws -> SecretBytes {
        try value.withUnsafeBytes { bytes in
            guard bytes.isUTF8 else {
                throw CommandError.refused("The value of \"\(name)\" is not text, so --last does not apply.")
            }
            // These are the offsets of the first byte of each character.
            let starts = bytes.indices.filter { bytes[$0] & 0xC0 != 0x80 }
            guard starts.count >= count + hidden else {
                throw CommandError.refused(
                    "The value of \"\(name)\" is too short to show its last \(count) characters.")
            }
            let end = UnsafeRawBufferPointer(rebasing: bytes[starts[starts.count - count]...])
            return try SecretBytes(composing: { put in end.forEach(put) })
        }
    }
}
