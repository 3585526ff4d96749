extension DotEnv {
    /// Returns the variable for a name: in capitals, with `_` for each character that a variable cannot contain.
    /// `db/password` becomes `DB_PASSWORD`.
    package static func variableName(of name: String) -> String {
        let letters = name.uppercased().utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
            default: UInt8(ascii: "_")
            }
        }
        let isNumber = letters.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? true
        return (isNumber ? "_" : "") + String(decoding: letters, as: UTF8.self)
    }

    /// Writes a value in quotation marks, byte by byte. ``variables(in:)`` and a shell read it in the same way.
    package static func write(_ value: some Collection<UInt8>, _ put: (UInt8) -> Void) {
        let single = UInt8(ascii: "'")
        let double = UInt8(ascii: "\"")
        let quote = value.contains(single) ? double : single
        put(quote)
        for byte in value {
            if quote == double, [double, UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`")].contains(byte) {
                put(UInt8(ascii: "\\"))
            }
            put(byte)
        }
        put(quote)
    }
}
