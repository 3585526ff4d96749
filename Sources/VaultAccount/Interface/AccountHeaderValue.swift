/// Functions that build the values of request headers. Tokens and names are encoded, so that input from a server or a
/// person cannot end the header or begin another one.
public enum AccountHeaderValue {
    private static let alphanumerics = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    // The characters of a token in RFC 9110, section 5.6.2, except `%`, which begins an encoded byte.
    private static let tokenBytes = alphanumerics.union("!#$&'*+-.^_`|~".utf8)
    private static let cookieOctets = Set<UInt8>(0x21...0x7e).subtracting("\"%,;\\".utf8)
    private static let bearerBytes = alphanumerics.union("-._~+/=".utf8)

    /// Returns a cookie pair, `name=value`. Bytes that RFC 6265, section 4.1.1, does not allow are percent-encoded.
    public static func cookie(name: String, value: String) -> String {
        name.percentEncoded(allowing: tokenBytes) + "=" + value.percentEncoded(allowing: cookieOctets)
    }

    /// Returns `Bearer` and a token. Bytes that a token cannot contain (RFC 6750, section 2.1) are percent-encoded.
    public static func bearer(_ token: String) -> String { "Bearer " + token.percentEncoded(allowing: bearerBytes) }
}

extension String {
    /// Returns this string with each UTF-8 byte that is not in `allowed` replaced with `%` and two hexadecimal digits
    /// (RFC 3986, section 2.1).
    ///
    /// - Parameter allowed: the bytes to keep, which must not include `%` if the result will be decoded.
    func percentEncoded(allowing allowed: Set<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = utf8.flatMap { byte in
            allowed.contains(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes this percent-encoded string. A `%` that is not followed by two hexadecimal digits is kept.
    func percentDecoded() -> String {
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.popFirst() {
            let isCode = byte == UInt8(ascii: "%") && rest.count >= 2
            let code = isCode ? UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) : nil
            if code != nil { rest = rest.dropFirst(2) }
            bytes.append(code ?? byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
