import Sealing

/// The layout of a stanza's text. The text, which may be secret, is a line of arguments followed by the body in base64.
/// Each line of the body has 64 digits, except the last one, which is shorter and may be empty.
///
///     -> X25519 XEl0dJ6y3C7KZkgmgWUicg63EyXJiwBJW8PdYJ/cYBE
///     qRS0AMjdjPvZ/WT08U2KL4G+PIooA3hy38SvLpvaC1E
struct StanzaText {
    private static let mark = Array("-> ".utf8)
    private static let columns = 64
    /// The number of bytes that a full line of the body encodes.
    private static let lineSize = 48
    private static let lineEnd = UInt8(ascii: "\n")
    private static let space = UInt8(ascii: " ")

    let arguments: [String]
    let bodySize: Int
    let end: Int
    private let body: Int

    /// Parses the stanza at an offset. Returns nil if the bytes end before the stanza does. Throws `malformed`.
    init?(_ bytes: UnsafeRawBufferPointer, at start: Int) throws(AgeError) {
        guard start >= 0, start <= bytes.count else { return nil }
        let first = bytes[start...].prefix(StanzaText.mark.count)
        guard first.elementsEqual(StanzaText.mark.prefix(first.count)) else {
            throw .malformed("a stanza does not start with \"-> \"")
        }
        guard let argumentsEnd = bytes[start...].firstIndex(of: StanzaText.lineEnd) else { return nil }
        arguments = try StanzaText.arguments(in: bytes[(start + StanzaText.mark.count)..<argumentsEnd])
        body = argumentsEnd + 1
        var size = 0
        var line = body
        while true {
            let rest = bytes[line...].prefix(StanzaText.columns + 1)
            guard let lineEnd = rest.firstIndex(of: StanzaText.lineEnd) else {
                guard rest.count <= StanzaText.columns else { throw .malformed("a line of a stanza is too long") }
                return nil
            }
            guard let part = Base64.size(ofDigits: lineEnd - line) else { throw StanzaText.notBase64 }
            size += part
            let isLast = lineEnd - line < StanzaText.columns
            line = lineEnd + 1
            if isLast { break }
        }
        bodySize = size
        end = line
    }

    private static func arguments(in line: Slice<UnsafeRawBufferPointer>) throws(AgeError) -> [String] {
        let arguments = line.split(separator: space, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard areWritable(arguments) else { throw .malformed("an argument of a stanza is invalid") }
        return arguments
    }

    /// Decodes the body into `output`, which must have `bodySize` bytes. Throws `malformed`.
    ///
    /// - Parameter bytes: the bytes from which this layout was parsed.
    func decodeBody(of bytes: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) throws(AgeError) {
        guard output.count == bodySize, end <= bytes.count else { throw .malformed("a length out of bounds") }
        var line = body
        var done = 0
        while line < end {
            let digits = min(StanzaText.columns, end - 1 - line)
            let size = min(StanzaText.lineSize, bodySize - done)
            let text = UnsafeRawBufferPointer(rebasing: bytes[line..<line + digits])
            let part = UnsafeMutableRawBufferPointer(rebasing: output[done..<done + size])
            guard Base64.decode(text, into: part) else { throw StanzaText.notBase64 }
            line += digits + 1
            done += size
        }
    }

    private static let notBase64 = AgeError.malformed("the body of a stanza is not canonical base64")

    static func areWritable(_ arguments: [String]) -> Bool {
        !arguments.isEmpty && arguments.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
    }

    static func size(_ arguments: [String], bodySize: Int) -> Int {
        let lines = bodySize / lineSize + 1
        // A stanza's text begins with `->` and a space. A space or a line feed follows each argument.
        return mark.count + arguments.reduce(0) { $0 + $1.utf8.count + 1 } + Base64.digits(of: bodySize) + lines
    }

    /// Writes a stanza's text. Throws `length` unless `text` has exactly the required size.
    ///
    /// - Parameter arguments: arguments that ``areWritable`` accepts.
    static func write(
        _ arguments: [String], body: UnsafeRawBufferPointer, into text: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        guard text.count == size(arguments, bodySize: body.count) else { throw SealingError(.length) }
        let head = mark + Array(arguments.joined(separator: " ").utf8) + [lineEnd]
        text.copyBytes(from: head)
        var done = 0
        var position = head.count
        for _ in 0...body.count / lineSize {
            let part = UnsafeRawBufferPointer(rebasing: body[done..<min(done + lineSize, body.count)])
            let digits = Base64.digits(of: part.count)
            try Base64.encode(
                part, into: UnsafeMutableRawBufferPointer(rebasing: text[position..<position + digits + 1]))
            // The line feed replaces the zero byte that the encoder writes after the digits.
            text[position + digits] = lineEnd
            done += part.count
            position += digits + 1
        }
    }
}
