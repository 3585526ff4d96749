import Sealing

/// A filter that replaces secrets in a stream of bytes with asterisks, even if a secret arrives in several pieces.
///
/// Each secret is searched for with the Knuth-Morris-Pratt algorithm, so the work for a byte depends only on the number
/// of secrets that the byte may belong to. Bytes that may begin a secret are held back. They equal the beginning of
/// that secret, so they need not be copied.
struct Redactor {
    final class Pattern: Sendable {
        let text: SecretBytes
        /// For each length of a prefix of the text, the length of the longest shorter prefix that is also its suffix.
        fileprivate let fallbacks: [Int32]

        /// - Parameter text: the text to hide, which must not be empty.
        init(_ text: consuming SecretBytes) {
            fallbacks = text.withUnsafeBytes(Pattern.fallbacks)
            self.text = text
        }

        fileprivate var count: Int { text.count }
        fileprivate func byte(at index: Int) -> UInt8 { text.withUnsafeBytes { $0[index] } }

        /// Returns how many of the text's first bytes the stream ends with after `byte`, given `matched` before it.
        fileprivate func matched(after matched: Int, _ byte: UInt8) -> Int {
            text.withUnsafeBytes { text in
                var matched = matched
                while matched > 0, text[matched] != byte { matched = Int(fallbacks[matched]) }
                return text[matched] == byte ? matched + 1 : 0
            }
        }

        private static func fallbacks(of text: UnsafeRawBufferPointer) -> [Int32] {
            var fallbacks = [Int32](repeating: 0, count: text.count + 1)
            var matched = 0
            for index in text.indices.dropFirst() {
                while matched > 0, text[matched] != text[index] { matched = Int(fallbacks[matched]) }
                if text[matched] == text[index] { matched += 1 }
                fallbacks[index + 1] = Int32(matched)
            }
            return fallbacks
        }
    }

    /// A pattern whose beginning matches the last bytes of the stream.
    private struct Match {
        let pattern: Int
        var count: Int
    }

    private static let mask = Array("********".utf8)
    /// The maximum number of a secret's first bytes that may be shown. Harmless output often contains them too.
    private static let longestLittle = 3

    private let patterns: [Pattern]
    /// For each byte, the indices of the patterns that begin with it.
    private let starting: [[Int]]
    private var matches: [Match] = []
    /// For each pattern, whether `matches` contains a match of it.
    private var isMatching: [Bool]
    /// The number of bytes received so far.
    private var position = 0
    /// The number of received bytes that have been written, or replaced by asterisks.
    private var written = 0
    /// The ranges of the stream that contain secrets and have not been completely replaced yet, in order.
    private var secrets: [Range<Int>] = []
    /// Whether the asterisks that replace the first range in `secrets` have already been written.
    private var isMasked = false

    init(_ patterns: [Pattern]) {
        self.patterns = patterns
        var starting = [[Int]](repeating: [], count: 256)
        for (index, pattern) in patterns.enumerated() { starting[Int(pattern.byte(at: 0))].append(index) }
        self.starting = starting
        isMatching = [Bool](repeating: false, count: patterns.count)
    }

    /// Whether only a few bytes are held back. The caller then writes them unchanged, because they may belong to a
    /// prompt that the user must see to answer it.
    var holdsLittle: Bool {
        guard let longest else { return false }
        return written < position && longest.count <= Redactor.longestLittle
            && longest.count * 3 <= patterns[longest.pattern].count
    }

    /// Processes the next bytes of the stream, and appends the output that no later byte can change.
    mutating func redact(_ bytes: UnsafeRawBufferPointer, into output: inout [UInt8]) {
        for byte in bytes {
            guard !matches.isEmpty || !starting[Int(byte)].isEmpty else {
                position += 1
                written = position
                output.append(byte)
                continue
            }
            take(byte, &output)
        }
    }

    /// Appends the bytes that were held back. If they turn out to begin a secret, the rest of it is still replaced.
    mutating func flush(into output: inout [UInt8]) {
        guard let longest else { return }
        write(upTo: position, &output) { [patterns, position] in
            patterns[longest.pattern].byte(at: $0 - (position - longest.count))
        }
    }

    /// Appends the bytes still held back when the stream ends. Replaces them if they are more than the first few bytes
    /// of a secret, because the program may have ended while it was printing the secret.
    mutating func finish(into output: inout [UInt8]) {
        if let longest, longest.count > Redactor.longestLittle { hide(position - longest.count..<position) }
        flush(into: &output)
        matches = []
    }

    private var longest: Match? { matches.max { $0.count < $1.count } }

    private mutating func take(_ byte: UInt8, _ output: inout [UInt8]) {
        let former = longest
        let start = position - (former?.count ?? 0)
        position += 1
        advance(by: byte)
        let held = matches.max { $0.count < $1.count }?.count ?? 0
        write(upTo: position - held, &output) { [patterns, position] offset in
            guard let former, offset < position - 1 else { return byte }
            return patterns[former.pattern].byte(at: offset - start)
        }
    }

    /// Updates the partial matches for the next byte, which may begin, continue or end a match.
    private mutating func advance(by byte: UInt8) {
        let former = matches
        matches.removeAll(keepingCapacity: true)
        for match in former { note(match.pattern, patterns[match.pattern].matched(after: match.count, byte)) }
        for pattern in starting[Int(byte)] where !isMatching[pattern] { note(pattern, 1) }
        for match in former { isMatching[match.pattern] = false }
        for match in matches { isMatching[match.pattern] = true }
    }

    private mutating func note(_ index: Int, _ matched: Int) {
        let pattern = patterns[index]
        if matched == pattern.count { hide(position - matched..<position) }
        let goesOn = matched == pattern.count ? Int(pattern.fallbacks[matched]) : matched
        if goesOn > 0 { matches.append(Match(pattern: index, count: goesOn)) }
    }

    /// Adds the range of a secret, combined with the ranges that it overlaps.
    private mutating func hide(_ secret: Range<Int>) {
        var start = secret.lowerBound
        while let last = secrets.last, last.upperBound > start {
            start = min(start, last.lowerBound)
            secrets.removeLast()
        }
        secrets.append(start..<secret.upperBound)
    }

    private mutating func write(upTo end: Int, _ output: inout [UInt8], _ byte: (_ offset: Int) -> UInt8) {
        while written < end {
            guard let secret = secrets.first, secret.lowerBound <= written else {
                output.append(byte(written))
                written += 1
                continue
            }
            if !isMasked { output += Redactor.mask }
            written = min(max(written, secret.upperBound), end)
            isMasked = written < secret.upperBound
            if !isMasked { secrets.removeFirst() }
        }
    }
}
