/// Parts of an address, read in place: the secret is one of them.
extension Slice<UnsafeRawBufferPointer> {
    /// Compares with a text of ASCII, in either case.
    func isEqual(to text: String) -> Bool { elementsEqual(text.utf8) { $0.lowered == $1.lowered } }

    /// Returns what is after a prefix, which may be written in either case; nil without it.
    func dropping(prefix: String) -> Self? {
        self.prefix(prefix.utf8.count).isEqual(to: prefix) ? dropFirst(prefix.utf8.count) : nil
    }

    /// Calls `take` for each byte that the text stands for (RFC 3986: a plus sign is a plus sign).
    ///
    /// - Returns: whether each percent sign has its two hexadecimal digits.
    func percentDecoded(_ take: (UInt8) -> Void) -> Bool {
        var rest = self
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                take(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue else {
                return false
            }
            take(high << 4 | low)
        }
        return true
    }

    /// nil if the encoding or its UTF-8 is not valid. Not for secrets.
    var percentDecodedText: String? {
        var bytes: [UInt8] = []
        return percentDecoded { bytes.append($0) } ? String(validating: bytes, as: UTF8.self) : nil
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes without the white space around them.
    var trimmed: Slice<UnsafeRawBufferPointer> {
        let isText = { (byte: UInt8) in !" \t\r\n".utf8.contains(byte) }
        guard let first = firstIndex(where: isText), let last = lastIndex(where: isText) else { return self[..<0] }
        return self[first...last]
    }
}

extension UInt8 {
    fileprivate var lowered: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension String {
    var nonempty: String? { isEmpty ? nil : self }
}
