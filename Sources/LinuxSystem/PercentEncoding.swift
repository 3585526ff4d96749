/// Percent-encoded text, in which a byte may be written as `%` and two hexadecimal digits (RFC 3986, section 2.1). A
/// plus sign is literal, and does not represent a space.
package enum PercentEncoding {
    /// Encodes each UTF-8 byte that is not allowed. `isAllowed` receives bytes, because Swift treats a slash followed
    /// by a combining accent as one character.
    package static func encoded(_ text: String, allowing isAllowed: (UInt8) -> Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte in
            isAllowed(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Calls `take` with each decoded byte.
    ///
    /// - Returns: whether two digits follow every percent sign. Decoding stops at the first sign that lacks them.
    package static func decode(_ encoded: some Sequence<UInt8>, _ take: (UInt8) -> Void) -> Bool {
        var rest = encoded.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                take(byte)
                continue
            }
            guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue else {
                return false
            }
            take(high << 4 | low)
        }
        return true
    }

    /// Returns the decoded text; nil if a percent sign is not followed by two digits, or the bytes are not UTF-8.
    package static func text(_ encoded: some Sequence<UInt8>) -> String? {
        var bytes: [UInt8] = []
        return decode(encoded) { bytes.append($0) } ? String(validating: bytes, as: UTF8.self) : nil
    }
}

extension UInt8 {
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
