// A value must not end its header or begin another: all bytes that the grammar does not allow are percent-encoded.

/// Creates values for the headers of requests, safe whatever a server or a person has put into a token or a name.
public enum HeaderValue {
    /// Returns a cookie pair, `name=value`. All but a cookie's octets (RFC 6265, section 4.1.1) is percent-encoded.
    public static func cookie(name: String, value: String) -> String {
        name.percentEncoded(allowing: isTokenByte) + "=" + value.percentEncoded(allowing: isCookieOctet)
    }

    /// Returns `Bearer` and a token. All but its characters (RFC 6750, section 2.1) is percent-encoded.
    public static func bearer(_ token: String) -> String {
        "Bearer " + token.percentEncoded(allowing: isBearerByte)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        let character = Character(Unicode.Scalar(byte))
        return character.isASCII && (character.isLetter || character.isNumber)
    }

    /// RFC 9110, section 5.6.2. As everywhere here, `%` is not allowed: it begins an encoded byte.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "!#$&'*+-.^_`|~".utf8.contains(byte)
    }

    private static func isCookieOctet(_ byte: UInt8) -> Bool {
        (0x21...0x7e).contains(byte) && !"\"%,;\\".utf8.contains(byte)
    }

    private static func isBearerByte(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "-._~+/=".utf8.contains(byte)
    }
}

extension String {
    /// Writes each byte of UTF-8 that is not allowed as `%` and two hexadecimal digits (RFC 3986, section 2.1).
    ///
    /// - Parameter isAllowed: has to refuse `%` if the text is to be decoded again.
    func percentEncoded(allowing isAllowed: (UInt8) -> Bool) -> String {
        var bytes: [UInt8] = []
        for byte in utf8 {
            if isAllowed(byte) {
                bytes.append(byte)
            } else {
                bytes += ((byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)).utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the text that was encoded. A `%` without two hexadecimal digits after it stands for itself.
    func percentDecoded() -> String {
        var (bytes, rest) = ([UInt8](), Array(utf8)[...])
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
