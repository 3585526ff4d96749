import FoundationEssentials

/// A writer of XML property lists in CoreFoundation's layout, with a dictionary's keys sorted by their UTF-8 bytes.
///
/// The writer does not recurse, since a tree may be nested to any depth.
struct XMLWriter {
    private struct Container {
        let element: XMLElement
        /// The container's children. The children of an array have no keys.
        let children: [(key: String?, value: StoredValue)]
        /// The number of children whose output has begun.
        var count = 0
    }

    private(set) var output: [UInt8] = []
    private var containers: [Container] = []
    private var valueCount = 0

    init(_ tree: StoredValue) throws(PropertyListError) {
        append(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """)
        try write(tree)
        while let container = containers.last {
            if container.count == container.children.count {
                containers.removeLast()
                line("</\(container.element.rawValue)>")
            } else {
                containers[containers.count - 1].count += 1
                let (key, value) = container.children[container.count]
                if let key { try write(key, in: .key) }
                try write(value)
            }
        }
        append("</plist>\n")
        try PropertyListFormat.check(size: output.count)
    }

    private mutating func write(_ value: StoredValue) throws(PropertyListError) {
        valueCount += 1
        try PropertyListFormat.check(valueCount: valueCount, size: output.count)
        switch value {
        case .null: throw unrepresentable("a null")
        case .boolean(let flag): line(flag ? "<true/>" : "<false/>")
        case .integer(let number):
            guard StoredValue.integers.contains(number) else { throw unrepresentable("an integer beyond 64 bits") }
            line("<integer>\(number)</integer>")
        case .real(let number):
            // Writes the shortest decimal that reads back as this number, or CoreFoundation's name for infinity or NaN.
            let infinity = number < 0 ? "-infinity" : "+infinity"
            line("<real>\(number.isNaN ? "nan" : number.isFinite ? "\(number)" : infinity)</real>")
        case .string(let string): try write(string, in: .string)
        case .data(let data), .untyped(let data): write(data)
        case .date(let date):
            guard let text = CalendarTime.text(date) else {
                throw unrepresentable("a date that is not a whole second of the years 1 to 9999")
            }
            line("<date>\(text)</date>")
        case .array(let values): try open(Container(element: .array, children: values.map { (nil, $0) }))
        case .dictionary(let entries):
            try open(Container(element: .dict, children: entries.sortedByBytes.map { ($0.key, $0.value) }))
        }
    }

    private mutating func open(_ container: Container) throws(PropertyListError) {
        guard containers.count < StoredValue.maximumDepth else { throw .tooDeep }
        guard !container.children.isEmpty else { return line("<\(container.element.rawValue)/>") }
        line("<\(container.element.rawValue)>")
        containers.append(container)
    }

    private mutating func write(_ text: String, in element: XMLElement) throws(PropertyListError) {
        if let scalar = text.unicodeScalars.first(where: { !$0.isXMLCharacter }) {
            // Four hexadecimal digits are enough, since all characters that XML does not allow are below U+10000.
            let digits = String(0x10000 + scalar.value, radix: 16, uppercase: true).dropFirst()
            throw unrepresentable("a \(element.rawValue) with the character U+\(digits), which XML does not allow")
        }
        indent()
        append("<\(element.rawValue)>")
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): append("&amp;")
            case UInt8(ascii: "<"): append("&lt;")
            case UInt8(ascii: ">"): append("&gt;")
            // A literal carriage return would be read as a line feed (XML 1.0, section 2.11).
            case UInt8(ascii: "\r"): append("&#13;")
            default: output.append(byte)
            }
        }
        append("</\(element.rawValue)>\n")
    }

    /// Writes base64 in lines of 76 columns, counting a tab as 8 columns, as CoreFoundation does.
    private mutating func write(_ data: Data) {
        line("<data>")
        let encoded = data.base64EncodedData()
        let width = max(16, 76 - 8 * containers.count)
        for start in stride(from: 0, to: encoded.count, by: width) {
            line(String(decoding: encoded[start...].prefix(width), as: UTF8.self))
        }
        line("</data>")
    }

    private mutating func line(_ text: String) {
        indent()
        append(text)
        append("\n")
    }

    private mutating func indent() {
        output.append(contentsOf: repeatElement(UInt8(ascii: "\t"), count: containers.count))
    }

    private mutating func append(_ text: String) { output.append(contentsOf: text.utf8) }

    /// Returns an error for the value that is being written, with the value's location in the tree.
    private func unrepresentable(_ what: String) -> PropertyListError {
        let steps = containers.map { $0.children[$0.count - 1].key.map(PropertyListError.step) ?? "[\($0.count - 1)]" }
        return .unrepresentable(steps.isEmpty ? what : "\(what), at \(steps.joined())")
    }
}

extension UnicodeScalar {
    /// Whether XML 1.0 allows the character (section 2.2, production 2).
    fileprivate var isXMLCharacter: Bool { value < 0x20 ? UInt8(value).isXMLSpace : value != 0xfffe && value != 0xffff }
}
