import FoundationEssentials

/// Writes a tree as XML, laid out as CoreFoundation does, with the keys of a dictionary sorted by their UTF-8.
///
/// Iterative: a tree's depth is not known before it is walked.
struct XMLWriter {
    private static let head = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """

    /// An array or dictionary that is being written: `keys` is empty for an array.
    private struct Container {
        let values: [StoredValue]
        let keys: [String]
        let element: XMLElement
        var next = 0
    }

    private var output: [UInt8] = []
    private var containers: [Container] = []
    private var valueCount = 0

    mutating func write(_ tree: StoredValue) throws(PropertyListError) -> [UInt8] {
        append(XMLWriter.head)
        try write(value: tree)
        while let container = containers.last {
            if container.next == container.values.count {
                containers.removeLast()
                line("</\(container.element.rawValue)>")
            } else {
                containers[containers.count - 1].next += 1
                if container.element == .dict { try write(.key, text: container.keys[container.next]) }
                try write(value: container.values[container.next])
            }
        }
        append("</plist>\n")
        try checkSize()
        return output
    }

    private mutating func write(value: StoredValue) throws(PropertyListError) {
        valueCount += 1
        guard valueCount <= PropertyListFormat.maximumValues else { throw .tooManyValues }
        try checkSize()
        switch value {
        case .null: throw unrepresentable("a null")
        case .boolean(let flag): line(flag ? "<true/>" : "<false/>")
        case .integer(let number):
            guard StoredValue.integers.contains(number) else { throw unrepresentable("an integer beyond 64 bits") }
            line("<integer>\(number)</integer>")
        case .real(let number): line("<real>\(XMLWriter.text(number))</real>")
        case .string(let string): try write(.string, text: string)
        case .data(let data), .untyped(let data): write(data)
        case .date(let date):
            guard let text = CalendarTime.text(date) else {
                throw unrepresentable("a date that is not a whole second of the years 1 to 9999")
            }
            line("<date>\(text)</date>")
        case .array(let values): try open(Container(values: values, keys: [], element: .array))
        case .dictionary(let entries):
            let sorted = entries.sortedByBytes
            try open(Container(values: sorted.map(\.value), keys: sorted.map(\.key), element: .dict))
        }
    }

    private mutating func open(_ container: Container) throws(PropertyListError) {
        guard containers.count < StoredValue.maximumDepth else { throw .tooDeep }
        guard !container.values.isEmpty else { return line("<\(container.element.rawValue)/>") }
        line("<\(container.element.rawValue)>")
        containers.append(container)
    }

    private mutating func write(_ element: XMLElement, text: String) throws(PropertyListError) {
        if let scalar = text.unicodeScalars.first(where: { !$0.isXMLCharacter }) {
            let what = element == .key ? "a key with" : "a string with"
            // Four digits: no character beyond U+FFFF is refused.
            let digits = String(0x10000 + scalar.value, radix: 16, uppercase: true).dropFirst()
            throw unrepresentable("\(what) the character U+\(digits), which XML cannot hold")
        }
        indent()
        append("<\(element.rawValue)>")
        for byte in text.utf8 {
            if let escaped = XMLWriter.escape(byte) { append(escaped) } else { output.append(byte) }
        }
        append("</\(element.rawValue)>\n")
    }

    /// Lines of 76 columns with a tab as 8, as CoreFoundation breaks them.
    private mutating func write(_ data: Data) {
        line("<data>")
        let encoded = data.base64EncodedData()
        let width = max(16, 76 - 8 * containers.count)
        for start in stride(from: 0, to: encoded.count, by: width) {
            indent()
            output.append(contentsOf: encoded[start..<min(start + width, encoded.count)])
            append("\n")
        }
        line("</data>")
    }
}

extension XMLWriter {
    private mutating func line(_ text: String) {
        indent()
        append(text)
        append("\n")
    }

    private mutating func indent() {
        output.append(contentsOf: repeatElement(UInt8(ascii: "\t"), count: containers.count))
    }

    private mutating func append(_ text: String) {
        output.append(contentsOf: text.utf8)
    }

    private func checkSize() throws(PropertyListError) {
        guard output.count <= PropertyListFormat.maximumSize else { throw .tooManyBytes }
    }

    /// Returns an error that names the location of the value that was being written.
    private func unrepresentable(_ what: String) -> PropertyListError {
        // `next` is the index of the value after it.
        let steps = containers.map {
            $0.element == .dict ? PropertyListError.step($0.keys[$0.next - 1]) : "[\($0.next - 1)]"
        }
        return .unrepresentable(steps.isEmpty ? what : "\(what), at \(steps.joined())")
    }

    /// Returns what a character is written as, if not as itself. A plain carriage return would be read as a line feed
    /// (XML 1.0, section 2.11).
    private static func escape(_ byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "\r"): "&#13;"
        default: nil
        }
    }

    /// Returns the shortest decimal that is read as the same number; infinity and NaN as CoreFoundation names them.
    private static func text(_ number: Double) -> String {
        if number.isNaN { return "nan" }
        guard number.isInfinite else { return "\(number)" }
        return number < 0 ? "-infinity" : "+infinity"
    }
}

extension UnicodeScalar {
    /// Whether XML 1.0 can hold it (section 2.2, production 2).
    fileprivate var isXMLCharacter: Bool {
        switch value {
        case 0x09, 0x0a, 0x0d: true
        case 0..<0x20, 0xfffe, 0xffff: false
        default: true
        }
    }
}
