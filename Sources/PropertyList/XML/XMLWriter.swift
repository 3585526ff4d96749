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
        let values: [PropertyList]
        let keys: [String]
        let element: XMLElement
        var next = 0
    }

    private var output: [UInt8] = []
    private var containers: [Container] = []
    private var valueCount = 0

    mutating func write(_ tree: PropertyList) throws(PropertyListError) -> [UInt8] {
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

    private mutating func write(value: PropertyList) throws(PropertyListError) {
        valueCount += 1
        guard valueCount <= Limits.values else { throw .tooManyValues }
        try checkSize()
        switch value {
        case .boolean(let flag): line(flag ? "<true/>" : "<false/>")
        case .integer(let number):
            guard PropertyList.integers.contains(number) else { throw unrepresentable("an integer beyond 64 bits") }
            line("<integer>\(number)</integer>")
        case .real(let number): line("<real>\(XMLWriter.text(number))</real>")
        case .string(let string): try write(.string, text: string)
        case .data(let data): write(data)
        case .date(let date):
            guard let text = CalendarTime.text(date) else {
                throw unrepresentable("a date that is not a whole second of the years 1 to 9999")
            }
            line("<date>\(text)</date>")
        case .array(let values): try open(Container(values: values, keys: [], element: .array))
        case .dictionary(let entries):
            let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            try open(Container(values: sorted.map(\.value), keys: sorted.map(\.key), element: .dict))
        }
    }

    private mutating func open(_ container: Container) throws(PropertyListError) {
        guard containers.count < Limits.depth else { throw .tooDeep }
        guard !container.values.isEmpty else { return line("<\(container.element.rawValue)/>") }
        line("<\(container.element.rawValue)>")
        containers.append(container)
    }

    private mutating func write(_ element: XMLElement, text: String) throws(PropertyListError) {
        if let scalar = text.unicodeScalars.first(where: { !$0.isXMLCharacter }) {
            let what = element == .key ? "a key with" : "a string with"
            throw unrepresentable("\(what) the character U+\(Self.hexadecimal(scalar.value)), which XML cannot hold")
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
        guard output.count <= Limits.size else { throw PropertyListError(.tooLarge, "more than \(Limits.size) bytes") }
    }

    /// Names where the value lies that was being written.
    private func unrepresentable(_ what: String) -> PropertyListError {
        var place = Place()
        for container in containers {
            // `next` has moved on to the value after it.
            if container.element == .dict {
                place.append(container.keys[container.next - 1])
            } else {
                place.append(container.next - 1)
            }
        }
        return PropertyListError(.unrepresentable, containers.isEmpty ? what : "\(what), at \(place)")
    }
}
