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
