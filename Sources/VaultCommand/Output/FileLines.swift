/// The lines of a file as bytes, since another program's file need not be UTF-8.
struct FileLines {
    private let lines: [ArraySlice<UInt8>]

    init(_ bytes: [UInt8]) {
        let ended = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        lines = bytes.isEmpty ? [] : ended.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    /// Whether a line contains this word.
    func contain(_ word: String) -> Bool {
        lines.contains { String(decoding: $0, as: UTF8.self).contains(word) }
    }

    /// Returns the range of these lines, if they occur one after the other; otherwise nil.
    func range(of wanted: [String]) -> Range<Int>? {
        let wanted = wanted.map { Array($0.utf8)[...] }
        let start = lines.indices.first { lines[$0...].starts(with: wanted) }
        return start.map { $0..<$0 + wanted.count }
    }

    /// Returns the bytes with these lines at the end.
    func adding(_ new: [String]) -> [UInt8] { FileLines.joined(lines + new.map { Array($0.utf8)[...] }) }

    /// Returns the bytes without these lines.
    func removing(_ range: Range<Int>) -> [UInt8] {
        FileLines.joined(Array(lines[..<range.lowerBound] + lines[range.upperBound...]))
    }

    private static func joined(_ lines: [ArraySlice<UInt8>]) -> [UInt8] { lines.flatMap { $0 + [UInt8(ascii: "\n")] } }
}
