/// Parts of an address, read in place: the secret is one of them.
extension Slice<UnsafeRawBufferPointer> {
    /// Compares with a text of ASCII, in either case.
    func isEqual(to text: String) -> Bool { elementsEqual(text.utf8) { $0.lowered == $1.lowered } }

    /// Returns what is after a prefix, which may be written in either case; nil without it.
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
