import LinuxSystem
import Sealing

/// A file key wrapped for one recipient. It consists of a kind, further arguments, and a body.
package struct Stanza: Hashable, Sendable {
    /// The stanza's arguments, at least one. The first is its kind. No argument is empty or contains white space.
    package let arguments: [String]
    package let body: [UInt8]

    /// Creates a stanza. Throws `malformed` if an argument contains an invalid character or is empty.
    package init(arguments: [String], body: [UInt8]) throws(AgeError) {
        guard StanzaText.areWritable(arguments) else { throw .malformed("an argument of a stanza is invalid") }
        self.arguments = arguments
        self.body = body
    }

    /// Decodes a stanza from `bytes`, using the layout that `text` describes.
    init(_ text: StanzaText, in bytes: UnsafeRawBufferPointer) throws(AgeError) {
        var body = [UInt8](repeating: 0, count: text.bodySize)
        try body.withMutableRawBytes { (body) throws(AgeError) in try text.decodeBody(of: bytes, into: body) }
        arguments = text.arguments
        self.body = body
    }

    package var kind: String { arguments.first ?? "" }

    /// The stanza's lines as they appear in a header.
    package var text: [UInt8] {
        var text = [UInt8](repeating: 0, count: StanzaText.size(arguments, bodySize: body.count))
        // Writing cannot fail, because the buffer has the exact size and the arguments were checked.
        try? body.withRawBytes { (body) throws(SealingError) in
            try text.withMutableRawBytes { (text) throws(SealingError) in
                try StanzaText.write(arguments, body: body, into: text)
            }
        }
        return text
    }

    /// Parses consecutive stanzas that together make up the whole text. Throws `malformed`.
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
