extension XMLWriter {
    /// What a character has to be written as, if not as itself. A carriage return that stood for itself would be read as
    /// a line feed (XML 1.0, section 2.11).
    static func escape(_ byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "\r"): "&#13;"
        default: nil
        }
    }

    /// The shortest decimal that reads back as the same number; what is none is named as CoreFoundation does.
    static func text(_ number: Double) -> String {
        if number.isNaN { return "nan" }
        guard number.isInfinite else { return "\(number)" }
        return number < 0 ? "-infinity" : "+infinity"
    }

    /// At least four digits, as Unicode writes scalars.
    static func hexadecimal(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}

extension UnicodeScalar {
    /// Whether XML 1.0 can hold it (section 2.2, production 2).
    var isXMLCharacter: Bool {
        switch value {
        case 0x09, 0x0a, 0x0d: true
        case 0..<0x20, 0xfffe, 0xffff: false
        default: true
        }
    }
}
