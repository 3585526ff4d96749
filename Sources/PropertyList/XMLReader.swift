import CExpat

/// The boundary to expat: the only file that calls it. Passes the parser's events to an ``XMLTreeBuilder``.
///
/// No external entity is fetched: expat does so only through a handler, and none is set.
enum Expat {
    /// - Parameter bytes: at most ``PropertyListFormat/maximumSize``, which an `Int32` holds.
    /// - Throws: ``PropertyListError``: `malformed`, `unsupported`, `tooDeep` or `tooLarge`, with the line.
    static func parse(_ bytes: [UInt8]) throws(PropertyListError) -> StoredValue {
        guard let length = Int32(exactly: bytes.count) else { throw PropertyListError(.tooLarge, "too many bytes") }
        guard let parser = XML_ParserCreate(nil) else { throw PropertyListError(.tooLarge, "no memory for a parser") }
        defer { XML_ParserFree(parser) }
        let session = Session(parser)
        let status = withExtendedLifetime(session) {
            XML_SetUserData(parser, Unmanaged.passUnretained(session).toOpaque())
            setHandlers(of: parser)
            return bytes.withUnsafeBytes { XML_Parse(parser, $0.bindMemory(to: CChar.self).baseAddress, length, 1) }
        }
        if let failure = session.failure { throw failure }
        guard status == XML_STATUS_OK else { throw failure(XML_GetErrorCode(parser)).on(line: session.line) }
        return try session.builder.finish()
    }

    private static func setHandlers(of parser: XML_Parser) {
        XML_SetElementHandler(
            parser,
            { context, name, attributes in
                Session.at(context)?.step { (builder) throws(PropertyListError) in
                    try builder.start(Expat.text(name), attributes: Expat.names(attributes))
                }
            },
            { context, _ in Session.at(context)?.step { (builder) throws(PropertyListError) in try builder.end() } })
        XML_SetCharacterDataHandler(parser) { context, start, count in
            let characters = UnsafeRawBufferPointer(start: start, count: Int(count))
            Session.at(context)?.step { (builder) throws(PropertyListError) in try builder.text(characters) }
        }
        // Entities of its own could make a document grow without bound, and no property list has any.
        XML_SetDoctypeDeclHandler(
            parser,
            { context, _, _, _, hasSubset in
                Session.at(context)?.step { (_) throws(PropertyListError) in
                    guard hasSubset == 0 else { throw .unsupported("a document type with declarations of its own") }
                }
            }, nil)
        // If there is a document type, which is not fetched, expat skips the entities that it does not know. They would
        // be missing from the text.
        XML_SetSkippedEntityHandler(parser) { context, _, _ in
            Session.at(context)?.step { (_) throws(PropertyListError) in throw .malformed("an unknown entity") }
        }
    }

    /// Returns the error for what expat itself refused.
    private static func failure(_ code: XML_Error) -> PropertyListError {
        switch code {
        case XML_ERROR_NO_MEMORY: PropertyListError(.tooLarge, "not enough memory")
        case XML_ERROR_UNKNOWN_ENCODING, XML_ERROR_INCORRECT_ENCODING: .unsupported("an unknown or incorrect encoding")
        case XML_ERROR_NO_ELEMENTS: .malformed("no property list")
        default: .malformed(text(XML_ErrorString(code)))
        }
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
    }

    /// Returns the names in expat's list of names and values, which a null pointer ends.
    private static func names(_ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> [String] {
        guard let attributes else { return [] }
        var names: [String] = []
        while let name = attributes[names.count * 2] { names.append(String(cString: name)) }
        return names
    }
}

/// What the handlers share during one parse. Lives as long as the call to `XML_Parse`.
private final class Session {
    private let parser: XML_Parser
    var builder = XMLTreeBuilder()
    private(set) var failure: PropertyListError?

    init(_ parser: XML_Parser) {
        self.parser = parser
    }

    static func at(_ context: UnsafeMutableRawPointer?) -> Session? {
        context.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
    }

    var line: Int { Int(clamping: XML_GetCurrentLineNumber(parser)) }

    /// Passes an event on. The first error ends the parse; expat may still report the rest of the current element.
    func step(_ body: (inout XMLTreeBuilder) throws(PropertyListError) -> Void) {
        guard failure == nil else { return }
        do {
            try body(&builder)
        } catch {
            failure = error.on(line: line)
            XML_StopParser(parser, 0)
        }
    }
}

/// Builds a tree from the events of an XML parser, and checks that they are those of a property list.
///
/// The parser has checked that the document is well-formed: one root, tags in pairs. What is left to check is
/// PropertyList-1.0.dtd, and what it leaves open: one value below `<plist>`, no key twice. A value without `<plist>`
/// around it is read too, as CoreFoundation does. An attribute other than `version` is refused, since it would not be
/// kept.
struct XMLTreeBuilder {
    /// An array or dictionary whose end has not come yet.
    private struct Container {
        var values: [StoredValue] = []
        var entries: [String: StoredValue] = [:]
        /// The key whose value is to come.
        var key: String?
        let isDictionary: Bool
    }

    private var containers: [Container] = []
    /// The scalar or key that is being read.
    private var leaf: (element: XMLElement, text: [UInt8])?
    private var root: StoredValue?
    private var hasStarted = false
    private var valueCount = 0

    mutating func start(_ name: String, attributes: [String]) throws(PropertyListError) {
        guard let element = XMLElement(rawValue: name) else { throw .malformed("an unknown element") }
        guard leaf == nil else { throw .malformed("an element inside a \(leaf?.element.rawValue ?? "")") }
        guard attributes.allSatisfy({ element == .plist && $0 == "version" }) else {
            throw .unsupported("an attribute of \(name)")
        }
        defer { hasStarted = true }
        switch element {
        case .plist:
            guard !hasStarted else { throw .malformed("a plist inside another element") }
        case .key:
            guard let container = containers.last, container.isDictionary else {
                throw .malformed("a key outside a dict")
            }
            guard container.key == nil else { throw .malformed("a key without a value") }
            leaf = (element, [])
        case .dict, .array:
            try expectValue()
            guard containers.count < StoredValue.maximumDepth else { throw .tooDeep }
            containers.append(Container(isDictionary: element == .dict))
        default:
            try expectValue()
            leaf = (element, [])
        }
    }

    /// Checks that a value may follow here.
    private mutating func expectValue() throws(PropertyListError) {
        if let container = containers.last {
            guard !container.isDictionary || container.key != nil else { throw .malformed("a value without a key") }
        } else {
            guard root == nil else { throw .malformed("more than one value in a plist") }
        }
        valueCount += 1
        guard valueCount <= PropertyListFormat.maximumValues else { throw .tooManyValues }
    }

    mutating func text(_ characters: UnsafeRawBufferPointer) throws(PropertyListError) {
        if leaf == nil {
            guard characters.allSatisfy({ $0.isXMLSpace }) else { throw .malformed("text between elements") }
        } else {
            leaf?.text.append(contentsOf: characters)
        }
    }

    mutating func end() throws(PropertyListError) {
        if let (element, text) = leaf {
            leaf = nil
            if element == .key {
                containers[containers.count - 1].key = try XMLText.string(text)
            } else {
                try add(XMLText.value(of: element, text))
            }
        } else if let container = containers.popLast() {
            guard container.key == nil else { throw .malformed("a key without a value") }
            try add(container.isDictionary ? .dictionary(container.entries) : .array(container.values))
        } else {
            guard root != nil else { throw .malformed("a plist without a value") }
        }
    }

    private mutating func add(_ value: StoredValue) throws(PropertyListError) {
        let last = containers.count - 1
        if last < 0 {
            root = value
        } else if !containers[last].isDictionary {
            containers[last].values.append(value)
        } else if let key = containers[last].key.take() {
            guard containers[last].entries.updateValue(value, forKey: key) == nil else {
                throw .malformed("the key \(PropertyListError.step(key)) twice in a dict")
            }
        }
    }

    /// Returns the tree, once the document has ended.
    func finish() throws(PropertyListError) -> StoredValue {
        guard let root, containers.isEmpty else { throw .malformed("no property list") }
        return root
    }
}
