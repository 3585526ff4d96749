import Sealing

/// How a vault's fingerprint is shown: eight groups of four hex digits, to be compared aloud.
enum Fingerprint {
    static func text(_ fingerprint: [UInt8]) -> String { text(Hexadecimal.string(of: fingerprint)) }

    /// Groups hex digits, as the errors of the log have them.
    static func text(_ digits: String) -> String {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<min($0 + 4, digits.count)]) }
            .joined(separator: "-")
    }

    /// Returns whether a text is a fingerprint, in either case, with or without its dashes.
    static func matches(_ text: String, _ fingerprint: [UInt8]) -> Bool {
        text.lowercased().filter { $0 != "-" } == Hexadecimal.string(of: fingerprint)
    }
}
