import LinuxSystem
package import Sealing

extension KeyFile {
    /// Restores a generated key file from text that contains its shares. KeyShare.swift describes the form of a share.
    ///
    /// The text may contain several shares, comments that begin with `#`, empty lines, and whitespace around a line.
    /// Lines end with LF, CR or CR LF, and letters may be in either case. The same share may occur more than once.
    ///
    /// - Throws: an error whose detail states the line and the remedy, but no digit of a share:
    ///   - `keyDamaged` for a share that was mistyped, truncated or changed, or that does not match the others,
    ///   - `keyUnsuitable` for text without shares, any other kind of line, and a share in a later format version,
    ///   - `invalid` for too few shares, and for shares of different sets,
    ///   - `outOfMemory`.
    package static func join(_ text: borrowing SecretBytes) throws(LogError) -> KeyFile {
        var reader = try translated(KeyShareReader())
        try text.withUnsafeBytes { (text) throws(LogError) in try reader.read(text) }
        return try reader.joined()
    }
}

private struct KeyShareReader: ~Copyable {
    private static let sumDigits = KeyFile.shareSumSize * 2
    private static let shareDigits = KeyFile.shareSize * 2
    /// The size of a share's line after the label: the digits of the share, a hyphen, and the digits of the checksum.
    private static let tailSize = shareDigits + 1 + sumDigits
    /// The byte size of the longest valid label. Longer text may contain a share's digits and stays in guarded memory.
    private static let longestLabel = "\(KeyShareLabel.prefix)00000000-32of32-32-".utf8.count

    /// The secret bytes of the shares read so far, without duplicates and in the same order as `found`.
    private var shares: SecretBytes
    private var found: [(label: KeyShareLabel, line: Int)] = []

    init() throws(SealingError) {
        shares = try SecretBytes(zeros: SecretSharing.counts.upperBound * KeyFile.shareSize, isKey: true)
    }

    mutating func read(_ text: UnsafeRawBufferPointer) throws(LogError) {
        var number = 1
        var start = 0
        for end in 0...text.count {
            let isReturn = end < text.count && text[end] == UInt8(ascii: "\r")
            guard end == text.count || isReturn || text[end] == UInt8(ascii: "\n") else { continue }
            let line = text[start..<end].trimming(while: \.isWhiteSpace)
            try readLine(UnsafeRawBufferPointer(rebasing: line), number)
            start = end + 1
            // CR LF counts as one line ending.
            if !(isReturn && start < text.count && text[start] == UInt8(ascii: "\n")) { number += 1 }
        }
    }

    private mutating func readLine(_ line: UnsafeRawBufferPointer, _ number: Int) throws(LogError) {
        guard let first = line.first, first != UInt8(ascii: "#") else { return }
        let family = KeyShareLabel.family.utf8
        // The line is compared without copying it, because it may be the second half of a secret share.
        guard line.lazy.map(lowercased).starts(with: family) else {
            throw LogError(.keyUnsuitable, "line \(number) is neither a share nor a comment; remove it or correct it")
        }
        let mistyped = LogError(
            .keyDamaged, "the share in line \(number) was mistyped, truncated or altered; compare it with the original")
        let version = line[family.count...].prefix { $0 != UInt8(ascii: "-") }
        guard version.elementsEqual(KeyShareLabel.version.utf8) else {
            let isNumber = (1...4).contains(version.count) && version.allSatisfy { (0x30...0x39).contains($0) }
            guard isNumber else { throw mistyped }
            let later = "the share in line \(number) has a later format; use a later version of this"
            throw LogError(.keyUnsuitable, later + " program, or correct the line if it is mistyped")
        }
        let labelSize = line.count - KeyShareReader.tailSize
        guard (1...KeyShareReader.longestLabel).contains(labelSize), line[labelSize - 1] == UInt8(ascii: "-"),
            line[labelSize + KeyShareReader.shareDigits] == UInt8(ascii: "-"),
            let label = KeyShareLabel(String(decoding: line[..<labelSize].map(lowercased), as: UTF8.self)),
            let share = try readShare(in: UnsafeRawBufferPointer(rebasing: line[labelSize...]), of: label)
        else { throw mistyped }
        try add(share, label, number)
    }

    /// Parses a share's line after the label. Returns nil if it has invalid digits or the checksum does not match.
    private func readShare(in tail: UnsafeRawBufferPointer, of label: KeyShareLabel) throws(LogError) -> SecretBytes? {
        var share = try translated(SecretBytes(zeros: KeyFile.shareSize, isKey: true))
        var sum = [UInt8](repeating: 0, count: KeyFile.shareSumSize)
        let shareDigits = UnsafeRawBufferPointer(rebasing: tail[..<KeyShareReader.shareDigits])
        let sumDigits = UnsafeRawBufferPointer(rebasing: tail[(KeyShareReader.shareDigits + 1)...])
        guard share.withUnsafeMutableBytes({ Hexadecimal.decode(shareDigits, into: $0) }),
            sum.withMutableRawBytes({ Hexadecimal.decode(sumDigits, into: $0) }),
            try translated(KeyFile.checksum(of: label, share)) == sum
        else { return nil }
        return share
    }

    private mutating func add(_ share: borrowing SecretBytes, _ label: KeyShareLabel, _ line: Int) throws(LogError) {
        if let first = found.first, first.label.setText != label.setText {
            let sets = "\(first.label.setText) and \(label.setText)"
            let advice = "join the shares of one set"
            throw LogError(.invalid, "lines \(first.line) and \(line) are shares of different sets, \(sets); \(advice)")
        }
        let size = KeyFile.shareSize
        if let earlier = found.firstIndex(where: { $0.label == label }) {
            let isSame = shares.withUnsafeBytes { shares in
                share.withUnsafeBytes { $0.elementsEqual(shares[earlier * size..<(earlier + 1) * size]) }
            }
            guard isSame else {
                let lines = "lines \(found[earlier].line) and \(line)"
                let fault = "\(lines) are both share \(label.index), but differ; compare them with the original"
                throw LogError(.keyDamaged, fault)
            }
            return
        }
        shares.withUnsafeMutableBytes { shares in
            let target = UnsafeMutableRawBufferPointer(rebasing: shares[(found.count * size)...])
            share.withUnsafeBytes { target.copyMemory(from: $0) }
        }
        found.append((label, line))
    }

    consuming func joined() throws(LogError) -> KeyFile {
        guard let threshold = found.first?.label.threshold else {
            throw LogError(.keyUnsuitable, "the input contains no share; a share begins with \(KeyShareLabel.family)")
        }
        let missing = threshold - found.count
        guard missing <= 0 else {
            let given = "\(found.count) of \(threshold) shares \(found.count == 1 ? "was" : "were") given"
            throw LogError(.invalid, "\(given); \(missing == 1 ? "one more is" : "\(missing) more are") needed")
        }
        shares.truncate(to: found.count * KeyFile.shareSize)
        let confirmed = try translated(SecretSharing.join(shares, at: found.map(\.label.index)))
        var secret = try translated(SecretBytes(zeros: SecretBox.keySize, isKey: true))
        secret.withUnsafeMutableBytes { secret in
            confirmed.withUnsafeBytes { secret.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<secret.count])) }
        }
        let key = KeyFile(kind: .generated, sharing: nil, secret: secret)
        guard try translated(key.confirmedSecret()).isEqual(to: confirmed) else {
            let fault = "the shares restore no valid key, so at least one of them is not genuine"
            throw LogError(.keyDamaged, fault + "; join other shares of the set")
        }
        return key
    }
}

private func lowercased(_ letter: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) ? letter | 0x20 : letter
}
