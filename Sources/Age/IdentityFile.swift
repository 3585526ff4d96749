package import Sealing

/// The identities in a file of the kind that `age-keygen` writes: one identity per line, and optional comments.
package struct IdentityFile: ~Copyable, Sendable {
    /// A class that holds an identity. Identities are not copyable, so an array cannot contain them directly.
    private final class Holder: Sendable {
        let identity: Identity

        init(_ identity: consuming Identity) { self.identity = identity }
    }

    package enum Kind: Sendable { case secretKeys, plugins }

    package static let sizeLimit = 256 << 10
    private static let countLimit = 256
    private static let pinMark = "# vault:"

    private let identities: [Holder]

    /// The fingerprints of the vaults for which the identities are intended, in the order of the file. Each fingerprint
    /// is the text after `# vault:` in a comment, without surrounding white space.
    package let pins: [String]

    /// The number of identities, at least 1.
    package var count: Int { identities.count }

    package init(_ identity: consuming Identity) {
        identities = [Holder(identity)]
        pins = []
    }

    /// Parses a file's bytes. Throws `outOfMemory`, or `malformed` with the line number.
    package init(_ file: borrowing SecretBytes) throws(AgeError) {
        var identities: [Holder] = []
        var pins: [String] = []
        try file.withUnsafeBytes { (text) throws(AgeError) in
            guard text.count <= IdentityFile.sizeLimit else { throw .malformed("the identity file is too large") }
            var start = 0
            var number = 1
            for end in 0...text.count where end == text.count || text[end] == UInt8(ascii: "\n") {
                let line = UnsafeRawBufferPointer(rebasing: text[start..<end].trimming(while: \.isWhiteSpace))
                if line.first == UInt8(ascii: "#") {
                    pins += IdentityFile.pin(in: line).map { [$0] } ?? []
                } else if !line.isEmpty {
                    identities.append(try IdentityFile.identity(in: line, number))
                }
                start = end + 1
                number += 1
            }
        }
        guard !identities.isEmpty else { throw .malformed("the identity file contains no identity") }
        guard identities.count <= IdentityFile.countLimit else {
            throw .malformed("the identity file contains more than \(IdentityFile.countLimit) identities")
        }
        self.identities = identities
        self.pins = pins
    }

    /// Calls `body` with each identity until `body` returns a result. Returns that result; nil if there is none.
    package borrowing func firstResult<Result: ~Copyable, Failure: Error>(
        _ body: (borrowing Identity) throws(Failure) -> Result?
    ) throws(Failure) -> Result? {
        for holder in identities { if let result = try body(holder.identity) { return result } }
        return nil
    }

    private static func identity(in line: UnsafeRawBufferPointer, _ number: Int) throws(AgeError) -> Holder {
        do { return Holder(try Identity(line)) } catch {
            guard error.code == .malformed else { throw error }
            throw .malformed("the identity in line \(number) is invalid: \(error.detail)")
        }
    }

    private static func pin(in comment: UnsafeRawBufferPointer) -> String? {
        guard comment.starts(with: pinMark.utf8) else { return nil }
        let rest = comment[pinMark.utf8.count...].trimming(while: \.isWhiteSpace)
        return rest.isEmpty ? nil : String(decoding: rest, as: UTF8.self)
    }
}
