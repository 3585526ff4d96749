/// Bytes that a place does not allow, written as `%` and two hexadecimal digits (RFC 3986, section 2.1).
enum PercentEncoding {
    /// - Parameter isAllowed: whether a byte of UTF-8 stands for itself. It has to refuse `%` if the text is to be decoded again.
    static func encode(_ text: String, isAllowed: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if isAllowed(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text that was encoded; `%` stands for itself where no two digits follow it.
    static func decode(_ text: String) -> String {
        var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let code = rest.prefix(2).hexadecimal {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension ArraySlice<UInt8> {
    fileprivate var hexadecimal: UInt8? {
        count == 2 ? UInt8(String(decoding: self, as: UTF8.self), radix: 16) : nil
    }
}
