import CExpat

/// A receiver of an XML document's contents while the document is read.
package protocol XMLEvents: AnyObject {
    func start(_ element: String, attributes: [String: String]) throws(PropertyListError)
    /// Receives character data, or one of several consecutive parts of it.
    func text(_ characters: [UInt8]) throws(PropertyListError)
    func end() throws(PropertyListError)
}

/// An XML reader that uses expat. No other file calls expat.
///
/// External entities are never fetched, because fetching requires a handler, and this reader sets none.
package final class XMLReader {
    private let parser: XML_Parser
    private let events: any XMLEvents
    private var failure: PropertyListError?

    package init(_ events: any XMLEvents) throws(PropertyListError) {
        guard let parser = XML_ParserCreate(nil) else { throw .tooLarge("no memory for a parser") }
        self.parser = parser
        self.events = events
        XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        XML_SetElementHandler(
            parser,
            { context, name, attributes in
                XMLReader.step(context) { events throws(PropertyListError) in
                    try events.start(XMLReader.text(name), attributes: XMLReader.attributes(attributes))
                }
            },
            { context, _ in XMLReader.step(context) { events throws(PropertyListError) in try events.end() } })
        XML_SetCharacterDataHandler(parser) { context, start, count in
            let characters = Array(UnsafeRawBufferPointer(start: start, count: Int(count)))
            XMLReader.step(context) { events throws(PropertyListError) in try events.text(characters) }
        }
        // Declarations are refused, since entities could make a document grow without limit. Property lists need none.
        XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, hasSubset in
            XMLReader.step(context) { _ throws(PropertyListError) in
                guard hasSubset == 0 else { throw .unsupported("a document type with declarations of its own") }
            }
        }
        // Without this handler, expat would skip unknown entities in a document that refers to an external DTD.
        XML_SetSkippedEntityHandler(parser) { context, _, _ in
            XMLReader.step(context) { _ throws(PropertyListError) in throw .malformed("an unknown entity") }
        }
    }

    deinit { XML_ParserFree(parser) }

    /// Reads a document of at most ``PropertyListFormat/maximumSize`` bytes. Call this method only once, because a
    /// parser cannot read a second document.
    package func read(_ bytes: [UInt8]) throws(PropertyListError) {
        guard let length = Int32(exactly: bytes.count) else { throw .tooLarge("too many bytes") }
        let status = bytes.withUnsafeBytes { XML_Parse(parser, $0.bindMemory(to: CChar.self).baseAddress, length, 1) }
        if status != XML_STATUS_OK { fail(error(XML_GetErrorCode(parser))) }
        if let failure { throw failure }
    }

    /// Passes an event to `events`. After the first error, ignores the events that expat still reports.
    private static func step(
        _ context: UnsafeMutableRawPointer?, _ body: (any XMLEvents) throws(PropertyListError) -> Void
    ) {
        guard let context else { return }
        let reader = Unmanaged<XMLReader>.fromOpaque(context).takeUnretainedValue()
        guard reader.failure == nil else { return }
        do { try body(reader.events) } catch {
            reader.fail(error)
            XML_StopParser(reader.parser, 0)
        }
    }

    /// Records the first error, with its line.
    private func fail(_ error: PropertyListError) {
        let line = Int(clamping: XML_GetCurrentLineNumber(parser))
        failure = failure ?? PropertyListError(code: error.code, sentence: "\(error.sentence) (line \(line))")
    }

    private func error(_ code: XML_Error) -> PropertyListError {
        switch code {
        case XML_ERROR_NO_MEMORY: .tooLarge("not enough memory")
        case XML_ERROR_UNKNOWN_ENCODING, XML_ERROR_INCORRECT_ENCODING: .unsupported("an unknown or incorrect encoding")
        case XML_ERROR_NO_ELEMENTS: .malformed("no element")
        default: .malformed(XMLReader.text(XML_ErrorString(code)))
        }
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String { pointer.map { String(cString: $0) } ?? "" }

    /// Reads expat's list of alternating names and values, which ends with a null pointer. Names are unique.
    private static func attributes(_ list: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> [String: String] {
        let names = (0...).lazy.map { list?[2 * $0] }.prefix { $0 != nil }.map(text)
        return Dictionary(names.enumerated().map { ($1, text(list?[2 * $0 + 1])) }) { first, _ in first }
    }
}

/// A builder of a tree from the events of an XML parser. It checks that the events form a property list.
///
/// The parser has checked that the document is well-formed. This type checks it against PropertyList-1.0.dtd, and also
/// that there is only one value in `<plist>` and no duplicate key. As in CoreFoundation, `<plist>` may be missing. An
/// attribute other than `version` is refused, since it would be lost.
final class XMLTreeBuilder: XMLEvents {
    private struct Container {
        let isDictionary: Bool
        var values: [StoredValue] = []
        var entries: [String: StoredValue] = [:]
        /// The dictionary key whose value is expected next.
        var key: String?
        var needsKey: Bool { isDictionary && key == nil }
    }

    private var containers: [Container] = []
    /// The scalar or key element that is being read, and its text so far; nil between such elements.
    private var leaf: (element: XMLElement, text: [UInt8])?
    private var hasStarted = false
    private var valueCount = 0
    private(set) var root: StoredValue?

    func start(_ name: String, attributes: [String: String]) throws(PropertyListError) {
        guard let element = XMLElement(rawValue: name) else { throw .malformed("an unknown element") }
        if let leaf { throw .malformed("an element inside a \(leaf.element.rawValue)") }
        guard attributes.keys.allSatisfy({ element == .plist && $0 == "version" }) else {
            throw .unsupported("an attribute of \(name)")
        }
        defer { hasStarted = true }
        switch element {
        case .plist:
            guard !hasStarted else { throw .malformed("a plist inside another element") }
        case .key:
            guard containers.last?.isDictionary == true else { throw .malformed("a key outside a dict") }
            guard containers.last?.key == nil else { throw .malformed("a key without a value") }
            leaf = (element, [])
        default:
            guard root == nil else { throw .malformed("more than one value in a plist") }
            guard containers.last?.needsKey != true else { throw .malformed("a value without a key") }
            valueCount += 1
            try PropertyListFormat.check(valueCount: valueCount)
            if element == .dict || element == .array {
                guard containers.count < StoredValue.maximumDepth else { throw .tooDeep }
                containers.append(Container(isDictionary: element == .dict))
            } else {
                leaf = (element, [])
            }
        }
    }

    func text(_ characters: [UInt8]) throws(PropertyListError) {
        guard leaf != nil || characters.allSatisfy(\.isXMLSpace) else { throw .malformed("text between elements") }
        leaf?.text.append(contentsOf: characters)
    }

    func end() throws(PropertyListError) {
        if let (element, text) = leaf.take() {
            if element == .key {
                containers[containers.count - 1].key = try XMLElement.string(text)
            } else {
                try add(element.value(text))
            }
        } else if let container = containers.popLast() {
            guard container.key == nil else { throw .malformed("a key without a value") }
            try add(container.isDictionary ? .dictionary(container.entries) : .array(container.values))
        } else {
            guard root != nil else { throw .malformed("a plist without a value") }
        }
    }

    private func add(_ value: StoredValue) throws(PropertyListError) {
        let last = containers.count - 1
        if last < 0 {
            root = value
        } else if !containers[last].isDictionary {
            containers[last].values.append(value)
        } else if let key = containers[last].key.take() {
            guard containers[last].entries.updateValue(value, forKey: key) == nil else {
                throw .malformed("the key \(PropertyListError.step(key)) occurs twice in a dict")
            }
        }
    }
}
