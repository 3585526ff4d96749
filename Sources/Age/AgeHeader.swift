import LinuxSystem
import Sealing

/// The start of an age file: the version, the stanzas, and a MAC of both under a key derived from the file key.
struct AgeHeader {
    /// The maximum size of a header in bytes. It is limited because a header is parsed before it is authenticated.
    static let sizeLimit = 64 << 10

    private static let version = Array("age-encryption.org/v1\n".utf8)
    private static let family = Array("age-encryption.org/".utf8)
    private static let endMark = Array("---".utf8)
    private static let info = Array("header".utf8)
    /// The size of the header's last line without the mark `---`: a space, 43 base64 digits and a line feed.
    private static let codeLineSize = 1 + Base64.digits(of: RunningHMAC.size) + 1

    let stanzas: [Stanza]
    /// The header's bytes up to and including the mark `---` in its last line. The MAC covers them.
    private let covered: [UInt8]
    private let code: [UInt8]

    var size: Int { covered.count + AgeHeader.codeLineSize }

    /// Creates a header and its MAC. Throws `outOfMemory`, or `malformed` if the header would be too large.
    init(_ stanzas: [Stanza], _ fileKey: borrowing SecretBytes) throws(AgeError) {
        covered = AgeHeader.version + stanzas.flatMap(\.text) + AgeHeader.endMark
        self.stanzas = stanzas
        code = try AgeHeader.code(of: covered, fileKey).unsafeArray()
        guard size <= AgeHeader.sizeLimit else { throw .malformed("the header would be too large") }
    }

    var bytes: [UInt8] {
        var digits = [UInt8](repeating: 0, count: Base64.digits(of: code.count) + 1)
        try? code.withRawBytes { (code) throws(SealingError) in
            try digits.withMutableRawBytes { (digits) throws(SealingError) in
                // Encoding cannot fail, because the output has the required size.
                try Base64.encode(code, into: digits)
            }
        }
        return covered + [UInt8(ascii: " ")] + digits.dropLast() + [UInt8(ascii: "\n")]
    }

    /// Reads the header at the start of a file. Throws `malformed`.
    init(_ file: [UInt8]) throws(AgeError) {
        let start = Array(file.prefix(AgeHeader.sizeLimit))
        guard start.starts(with: AgeHeader.family) else { throw .malformed("it is not an age file") }
        guard start.starts(with: AgeHeader.version) else {
            throw .malformed("the file's version of the age format is not supported")
        }
        var stanzas: [Stanza] = []
        var offset = AgeHeader.version.count
        try start.withRawBytes { (bytes) throws(AgeError) in
            while !bytes[offset...].starts(with: AgeHeader.endMark) {
                guard let text = try StanzaText(bytes, at: offset) else { throw AgeHeader.cut(file.count) }
                stanzas.append(try Stanza(text, in: bytes))
                offset = text.end
            }
        }
        guard !stanzas.isEmpty else { throw .malformed("the header has no stanza") }
        offset += AgeHeader.endMark.count
        guard start.count - offset >= AgeHeader.codeLineSize else { throw AgeHeader.cut(file.count) }
        code = try AgeHeader.code(in: start[offset..<offset + AgeHeader.codeLineSize])
        self.stanzas = stanzas
        covered = Array(start[..<offset])
    }

    private static func cut(_ size: Int) -> AgeError {
        .malformed(size > sizeLimit ? "the header is too large" : "the header is truncated")
    }

    private static func code(in line: ArraySlice<UInt8>) throws(AgeError) -> [UInt8] {
        let digits = Array(line.dropFirst().dropLast())
        guard line.first == UInt8(ascii: " "), line.last == UInt8(ascii: "\n"),
            let code = Base64.bytes(digits, count: RunningHMAC.size)
        else { throw .malformed("the last line of the header is invalid") }
        return code
    }

    /// Checks the header's MAC. Throws `damaged` unless the header was written with this file key.
    func check(_ fileKey: borrowing SecretBytes) throws(AgeError) {
        let expected = try AgeHeader.code(of: covered, fileKey)
        guard try translated(SecretBytes(copyOf: code)).isEqual(to: expected) else {
            throw AgeError(.damaged, "the header was changed (its MAC does not match)")
        }
    }

    private static func code(of covered: [UInt8], _ fileKey: borrowing SecretBytes) throws(AgeError) -> SecretBytes {
        guard fileKey.count == FileKey.size else { throw FileKey.wrongSize }
        do throws(SealingError) {
            var key = try SecretBytes(zeros: RunningHMAC.size, isKey: true)
            try FileKey.derive(from: fileKey, salt: [], info: info, into: &key)
            var hash = try key.withUnsafeBytes { (key) throws(SealingError) in try RunningHMAC(key: key) }
            try covered.withRawBytes { (covered) throws(SealingError) in try hash.update(covered) }
            return try hash.finish()
        } catch { throw AgeError(error) }
    }
}
