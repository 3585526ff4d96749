private import Glibc

/// The name of an entry: 1 to 1,024 bytes of UTF-8 without control characters, compared as bytes.
package struct EntryName: Hashable, Sendable, Comparable {
    package let bytes: [UInt8]

    /// nil unless the text is a name.
    package init?(_ text: String) {
        self.init(bytes: Array(text.utf8))
    }

    /// nil unless the bytes are a name.
    init?(bytes: [UInt8]) {
        guard bytes.withUnsafeBytes(EntryName.isValid) else { return nil }
        self.bytes = bytes
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package static func < (left: EntryName, right: EntryName) -> Bool {
        left.bytes.withUnsafeBytes { left in right.bytes.withUnsafeBytes { left.isOrdered(before: $0) } }
    }

    /// Whether bytes are a name. Control characters are out since lists print one name a line, and since a terminal
    /// would obey them.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard (1...Limits.nameSize).contains(bytes.count) else { return false }
        // All the names that most vaults ever hold.
        if bytes.allSatisfy({ (0x20...0x7e).contains($0) }) { return true }
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        return !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension UnsafeRawBufferPointer {
    /// Negative, 0 or positive: the order of the bytes, a prefix first.
    func order(to other: UnsafeRawBufferPointer) -> Int {
        let common = Swift.min(count, other.count)
        if common > 0, let left = baseAddress, let right = other.baseAddress {
            let order = Int(memcmp(left, right, common))
            if order != 0 { return order }
        }
        return count - other.count
    }

    func isOrdered(before other: UnsafeRawBufferPointer) -> Bool {
        order(to: other) < 0
    }
}
