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
