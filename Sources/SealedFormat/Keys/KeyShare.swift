import LinuxSystem
package import Sealing

// The shares of a generated key file, in the form `vault-key-share-1-<set>-<threshold>of<count>-<index>-<share>-<sum>`.
//
// `set` is 4 random bytes, the same in all shares that result from one split. `share` is the share that SecretSharing
// computes from 40 bytes: the key's 32 bytes, and 8 bytes that confirm the key. The latter are the first 8 bytes of the
// BLAKE2b-256 of `vault-key-share-1-`, keyed with the key. `sum` is the first 4 bytes of the BLAKE2b-256 of everything
// before the share's digits, in lower case, followed by the share's 40 bytes.
//
// A share begins like a key file, so that readers of key files reject it as a damaged key file. Otherwise they would
// accept it as another kind of key file and stretch it into a key.

/// The public fields of a share.
struct KeyShareLabel: Hashable {
    static let family = "vault-key-share-"
    static let version = "1"
    static let prefix = "\(family)\(version)-"
    private static let setSize = 4

    /// The ID of the set of shares, in hex digits. It is random, since a hash of the key would confirm a correct guess.
    let set: String
    let threshold, count, index: Int

    var text: String { "\(KeyShareLabel.prefix)\(setText)-\(index)-" }

    var setText: String { "\(set)-\(threshold)of\(count)" }

    static func randomSet() -> String { Hexadecimal.string(of: RandomBytes.array(setSize)) }
}

extension KeyShareLabel {
    /// Parses a label in lower case. Returns nil unless the label is spelled exactly like the result's ``text``.
    init?(_ text: String) {
        let fields = text.dropFirst(KeyShareLabel.prefix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard fields.count == 4, fields[0].count == KeyShareLabel.setSize * 2, fields[0].allSatisfy(\.isHexDigit),
            let index = Int(fields[2])
        else { return nil }
        // Splitting "3of5" at the "o" gives "3" and "f5". The "f" is checked below, by comparing the whole text.
        let numbers = fields[1].split(separator: "o")
        guard numbers.count == 2, let threshold = Int(numbers[0]), let count = Int(numbers[1].dropFirst()),
            SecretSharing.isPossible(count: count, threshold: threshold), (1...count).contains(index)
        else { return nil }
        self.init(set: String(fields[0]), threshold: threshold, count: count, index: index)
        guard self.text == text else { return nil }
    }
}

/// The shares that result from splitting a key once. Each share is computed on request.
package struct KeyShares: ~Copyable {
    let sharing: SecretSharing
    private let set: String

    package var count: Int { sharing.count }
    package var threshold: Int { sharing.threshold }

    fileprivate init(_ sharing: consuming SecretSharing) {
        self.sharing = sharing
        set = KeyShareLabel.randomSet()
    }

    /// Returns the text of one share: two comment lines, and the line with the share.
    ///
    /// - Parameter index: a number in `1...count`.
    /// - Throws: `invalid` for any other index; `outOfMemory`.
    package borrowing func text(at index: Int) throws(LogError) -> SecretBytes {
        guard (1...count).contains(index) else {
            throw LogError(.invalid, "no such share; the shares are numbered from 1 to \(count)")
        }
        let label = KeyShareLabel(set: set, threshold: threshold, count: count, index: index)
        let heading = """
            # Share \(index) of \(count) of a vault's key: any \(threshold) of them restore the key file, with \
            `vault key join`.
            # Fewer reveal nothing about it. Keep each share in a separate location, away from the vault. Set \(set).

            """
        let share = try translated(sharing.share(at: index))
        let sum = try translated(KeyFile.checksum(of: label, share))
        return try translated(share.line(after: heading + label.text, sum))
    }
}

extension KeyFile {
    private static let confirmationSize = 8
    static var shareSize: Int { SecretBox.keySize + confirmationSize }
    static let shareSumSize = 4

    /// Splits the key into shares. Any `threshold` of them restore it with ``join(_:)``.
    ///
    /// - Throws: `invalid` unless `2 <= threshold <= count <= 32`; `invalid` if the key file was not generated, because
    ///   other files have no fixed length and no checksum; `outOfMemory`.
    package borrowing func shares(_ count: Int, threshold: Int) throws(LogError) -> KeyShares {
        guard kind == .generated else { throw LogError(.invalid, "only a generated key file can be split into shares") }
        guard SecretSharing.isPossible(count: count, threshold: threshold) else {
            let counts = SecretSharing.counts
            let range = "\(counts.lowerBound) to \(counts.upperBound) shares, and restoring it must require at least 2"
            throw LogError(.invalid, "a key can be split into \(range)")
        }
        return try KeyShares(translated(SecretSharing(confirmedSecret(), count: count, threshold: threshold)))
    }

    /// Returns the bytes to split: the key, and a hash that confirms it. If a share has been changed or belongs to
    /// another set, the restored key and hash do not match.
    borrowing func confirmedSecret() throws(SealingError) -> SecretBytes {
        var confirmed = try SecretBytes(zeros: SecretBox.keySize + KeyedHash.size, isKey: true)
        try confirmed.withUnsafeMutableBytes { (confirmed) throws(SealingError) in
            let hash = UnsafeMutableRawBufferPointer(rebasing: confirmed[SecretBox.keySize...])
            try secret.withUnsafeBytes { (key) throws(SealingError) in
                confirmed.copyMemory(from: key)
                try Array(KeyShareLabel.prefix.utf8).withRawBytes { (label) throws(SealingError) in
                    try KeyedHash.hash(label, key: key, into: hash)
                }
            }
        }
        confirmed.truncate(to: KeyFile.shareSize)
        return confirmed
    }

    static func checksum(of label: KeyShareLabel, _ share: borrowing SecretBytes) throws(SealingError) -> [UInt8] {
        let input = try share.following(Array(label.text.utf8))
        return try input.withUnsafeBytes { (input) throws(SealingError) in
            Array(try KeyedHash.hash(input)[..<shareSumSize])
        }
    }
}
