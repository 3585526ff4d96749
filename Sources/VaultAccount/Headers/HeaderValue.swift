// What goes into a header must not end it or begin another: all bytes that the grammar does not allow are percent-encoded.

/// Values for the headers of requests, safe whatever a server or a person has put into a token or a name.
public enum HeaderValue {
    /// A cookie pair, `name=value`: of a cookie's octets (RFC 6265, section 4.1.1) all but `%` stand for themselves, and other bytes are
    /// percent-encoded.
    public static func cookie(name: String, value: String) -> String {
        PercentEncoding.encode(name, isAllowed: isTokenByte) + "="
            + PercentEncoding.encode(value, isAllowed: isCookieOctet)
    }

    /// `Bearer` and a token: of its characters (RFC 6750, section 2.1) all stand for themselves, and other bytes are percent-encoded.
    public static func bearer(_ token: String) -> String {
        "Bearer " + PercentEncoding.encode(token, isAllowed: isBearerByte)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    /// RFC 9110, section 5.6.2, without `%`, which begins an encoded byte.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "!#$&'*+-.^_`|~".utf8.contains(byte)
    }

    private static func isCookieOctet(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x21, 0x23...0x2b, 0x2d...0x3a, 0x3c...0x5b, 0x5d...0x7e: byte != UInt8(ascii: "%")
        default: false
        }
    }

    private static func isBearerByte(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "-._~+/=".utf8.contains(byte)
    }
}
