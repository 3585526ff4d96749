/// Makes a tree of the events of an XML parser, and checks that they make up a property list.
///
/// The parser has checked that the document is well-formed: one root, tags in pairs. What is left is
/// PropertyList-1.0.dtd, and what it leaves open: one value below `<plist>`, no key twice. A value without `<plist>`
/// around it is read too, as CoreFoundation does. An attribute other than `version` is refused, since it would not be
/// kept.
struct XMLTreeBuilder {
    /// An array or dictionary whose end has not come yet.
    private struct Container {
        var values: [PropertyList] = []
        var entries: [String: PropertyList] = [:]
        /// The key whose value is to come.
        var key: String?
        let isDictionary: Bool
    }

    private var containers: [Container] = []
    /// The scalar or key that is being read.
    private var leaf: (element: XMLElement, text: [UInt8])?
    private var root: PropertyList?
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
            guard containers.count < Limits.depth else { throw .tooDeep }
            containers.append(Container(isDictionary: element == .dict))
        default:
            try expectValue()
            leaf = (element, [])
        }
    }

    /// Whether a value may stand here.
    private mutating func expectValue() throws(PropertyListError) {
        if let container = containers.last {
            guard !container.isDictionary || container.key != nil else { throw .malformed("a value without a key") }
        } else {
            guard root == nil else { throw .malformed("more than one value in a plist") }
        }
        valueCount += 1
        guard valueCount <= Limits.values else { throw .tooManyValues }
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

    private mutating func add(_ value: PropertyList) throws(PropertyListError) {
        let last = containers.count - 1
        if last < 0 {
            root = value
        } else if !containers[last].isDictionary {
            containers[last].values.append(value)
        } else if let key = containers[last].key.take() {
            guard containers[last].entries.updateValue(value, forKey: key) == nil else {
                var place = Place()
                place.append(key)
                throw .malformed("the key \(place) twice in a dict")
            }
        }
    }

    /// The tree, once the document has ended.
    func finish() throws(PropertyListError) -> PropertyList {
        guard let root, containers.isEmpty else { throw .malformed("no property list") }
        return root
    }
}

extension UInt8 {
    /// White space as XML 1.0 has it (section 2.3).
    var isXMLSpace: Bool { self == 0x20 || self == 0x0a || self == 0x09 || self == 0x0d }
}
