/// Compares parts of an address without copying them, since the secret is one of them.
extension Slice<UnsafeRawBufferPointer> {
    /// Returns whether the bytes are an ASCII text, in upper or lower case.
    func isEqual(to text: String) -> Bool { elementsEqual(text.utf8) { $0.lowered == $1.lowered } }

    /// Returns the rest after a prefix, which may be in upper or lower case; nil if it is missing.
    func dropping(prefix: String) -> Self? {
        self.prefix(prefix.utf8.count).isEqual(to: prefix) ? dropFirst(prefix.utf8.count) : nil
    }
}

extension UInt8 {
    fileprivate var lowered: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}

extension String {
    var nonempty: String? { isEmpty ? nil : self }
}
