/// Creates values for the headers of requests, safe whatever a server or a person has put into a token or a name: no
/// value can end its header or begin another.
public enum AccountHeaderValue {
    private static let alphanumerics = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    // RFC 9110, section 5.6.2. As everywhere here, `%` is not allowed: it begins an encoded byte.
    private static let tokenBytes = alphanumerics.union("!#$&'*+-.^_`|~".utf8)
    private static let cookieOctets = Set<UInt8>(0x21...0x7e).subtracting("\"%,;\\".utf8)
    private static let bearerBytes = alphanumerics.union("-._~+/=".utf8)

    /// Returns a cookie pair, `name=value`. All but a cookie's octets (RFC 6265, section 4.1.1) is percent-encoded.
    public static func cookie(name: String, value: String) -> String {
        name.percentEncoded(allowing: tokenBytes) + "=" + value.percentEncoded(allowing: cookieOctets)
    }

    /// Returns `Bearer` and a token. All but its characters (RFC 6750, section 2.1) is percent-encoded.
    public static func bearer(_ token: String) -> String { "Bearer " + token.percentEncoded(allowing: bearerBytes) }
}

extension String {
    /// Writes each byte of UTF-8 that is not allowed as `%` and two hexadecimal digits (RFC 3986, section 2.1).
    ///
    /// - Parameter allowed: without `%` if the text is to be decoded again.
    func percentEncoded(allowing allowed: Set<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = utf8.flatMap { byte in
            allowed.contains(byte) ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the text that was encoded. A `%` without two hexadecimal digits after it stands for itself.
    func percentDecoded() -> String {
        var (bytes, rest) = ([UInt8](), Array(utf8)[...])
        while let byte = rest.popFirst() {
            let isCode = byte == UInt8(ascii: "%") && rest.count >= 2
            let code = isCode ? UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) : nil
            if code != nil { rest = rest.dropFirst(2) }
            bytes.append(code ?? byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
