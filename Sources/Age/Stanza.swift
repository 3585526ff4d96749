import LinuxSystem
import Sealing

/// A file key wrapped for one recipient: a kind, further arguments, and a body.
package struct Stanza: Hashable, Sendable {
    /// The arguments, at least one. The first is the kind. None is empty or contains white space.
    package let arguments: [String]
    package let body: [UInt8]

    /// Creates a stanza. Throws `malformed` if an argument cannot be written.
    package init(arguments: [String], body: [UInt8]) throws(AgeError) {
        guard StanzaText.areWritable(arguments) else { throw .malformed("an argument of a stanza is invalid") }
        self.arguments = arguments
        self.body = body
    }

    /// - Parameter text: the layout of the stanza in `bytes`.
    init(_ text: StanzaText, in bytes: UnsafeRawBufferPointer) throws(AgeError) {
        var body = [UInt8](repeating: 0, count: text.bodySize)
        try body.withMutableRawBytes { (body) throws(AgeError) in try text.decodeBody(of: bytes, into: body) }
        arguments = text.arguments
        self.body = body
    }

    package var kind: String { arguments.first ?? "" }

    /// The lines of the stanza as a header contains them.
    package var text: [UInt8] {
        var text = [UInt8](repeating: 0, count: StanzaText.size(arguments, bodySize: body.count))
        // This cannot fail: the size is right, and the arguments are writable.
        try? body.withRawBytes { (body) throws(SealingError) in
            try text.withMutableRawBytes { (text) throws(SealingError) in
                try StanzaText.write(arguments, body: body, into: text)
            }
        }
        return text
    }

    /// Parses stanzas that follow each other with nothing between or after them. Throws `malformed`.
    package static func all(in text: [UInt8]) throws(AgeError) -> [Stanza] {
        try text.withRawBytes { (bytes) throws(AgeError) in
            guard bytes.count <= AgeHeader.sizeLimit else { throw .malformed("the stanzas are too large") }
            var stanzas: [Stanza] = []
            var offset = 0
            while offset < bytes.count {
                guard let text = try StanzaText(bytes, at: offset) else { throw .malformed("a stanza is truncated") }
                stanzas.append(try Stanza(text, in: bytes))
                offset = text.end
            }
            return stanzas
        }
    }
}
