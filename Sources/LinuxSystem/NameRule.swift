/// The rule for the names of values in every kind of store: 1 to 1,024 bytes of UTF-8 without control characters.
///
/// Control characters are excluded because lists print one name per line, and a terminal would interpret them.
package enum NameRule {
    /// The maximum size of a name, in bytes of UTF-8.
    package static let maximumSize = 1_024

    package static func allows(_ text: String) -> Bool { text.utf8.span.bytes.withUnsafeBytes(allows) }

    package static func allows(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard (1...maximumSize).contains(bytes.count) else { return false }
        // ASCII names, the common case, need no decoding.
        if bytes.allSatisfy({ (0x20...0x7e).contains($0) }) { return true }
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
