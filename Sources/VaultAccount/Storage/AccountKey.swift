/// An account's id as part of a key. A server may give any text; keys have no control characters.
enum AccountKey {
    static func encode(_ id: String) -> String {
        PercentEncoding.encode(id) { $0 >= 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "%") }
    }

    static func decode(_ key: String) -> String {
        PercentEncoding.decode(key)
    }
}
