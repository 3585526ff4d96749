import LinuxSystem
import Sealing

/// A file key, wrapped for one recipient: its kind and further arguments, and a body.
package struct Stanza: Hashable, Sendable {
    /// At least one, the first of which is the kind. Each has at least one character, and no white space.
    package let arguments: [String]
    package let body: [UInt8]

    /// Throws `malformed` if an argument could not be written.
    package init(arguments: [String], body: [UInt8]) throws(AgeError) {
        guard StanzaText.areWritable(arguments) else { throw .malformed("an argument of a stanza is invalid") }
        (self.arguments, self.body) = (arguments, body)
    }

    /// - Parameter text: where the stanza stands in `bytes`.
    init(_ text: StanzaText, in bytes: UnsafeRawBufferPointer) throws(AgeError) {
        var body = [UInt8](repeating: 0, count: text.bodySize)
        try body.withMutableRawBytes { (body) throws(AgeError) in try text.decodeBody(of: bytes, into: body) }
        (self.arguments, self.body) = (text.arguments, body)
    }

    package var kind: String { arguments.first ?? "" }

    /// The lines of the stanza as a header has them.
    package var text: [UInt8] {
        var text = [UInt8](repeating: 0, count: StanzaText.size(arguments, bodySize: body.count))
        // The size is right and the arguments are writable, so it cannot fail.
        try? body.withRawBytes { (body) throws(SealingError) in
            try text.withMutableRawBytes { (text) throws(SealingError) in
                try StanzaText.write(arguments, body: body, into: text)
            }
        }
        return text
    }

    /// Reads stanzas that follow each other with nothing between or behind them. Throws `malformed`.
    package static func all(in text: [UInt8]) throws(AgeError) -> [Stanza] {
        try text.withRawBytes { (bytes) throws(AgeError) in
            guard bytes.count <= AgeHeader.sizeLimit else { throw .malformed("the stanzas are too large") }
            var (stanzas, offset): ([Stanza], Int) = ([], 0)
            while offset < bytes.count {
                guard let text = try StanzaText(bytes, at: offset) else { throw .malformed("a stanza was cut") }
                stanzas.append(try Stanza(text, in: bytes))
                offset = text.end
            }
            return stanzas
        }
    }
}
