/// Builds the tree of a binary property list from its objects.
///
/// A file may refer to an object many times: twenty arrays that each hold the next one twice are a million values. So each
/// object is read once and kept, with the size and depth of the tree below it. Iterative, as a file may nest without end.
struct BinaryReader {
    private struct Subtree {
        let value: StoredValue
        var valueCount = 1
        /// Containers inside each other, counted from here.
        var depth = 0
    }

    /// A container whose children are being read.
    private struct Container {
        let reference: Int
        /// nil for an array.
        let keys: [String]?
        let children: [Int]
        var values: [StoredValue] = []
        var valueCount = 1
        var depth = 1
    }

    private var objects: BinaryObjectReader
    private var finished: [Int: Subtree] = [:]
    private var containers: [Container] = []
    /// The containers' references, to detect one that holds itself.
    private var open: Set<Int> = []

    /// - Throws: ``PropertyListError``: `malformed`, `unsupported`, `tooDeep` or `tooLarge`.
    static func parse(_ bytes: [UInt8]) throws(PropertyListError) -> StoredValue {
        let trailer = try BinaryTrailer(bytes)
        var reader = BinaryReader(objects: BinaryObjectReader(bytes, trailer))
        return try reader.tree(trailer.root)
    }

    private init(objects: BinaryObjectReader) {
        self.objects = objects
    }

    private mutating func tree(_ root: Int) throws(PropertyListError) -> StoredValue {
        var reference = root
        while true {
            // Down to a subtree that is complete, then up again as far as that completes containers.
            guard var subtree = try begin(reference) else {
                reference = nextChild()
                continue
            }
            while let last = containers.indices.last {
                try add(subtree, to: last)
                if containers[last].values.count < containers[last].children.count { break }
                subtree = try close()
            }
            if containers.isEmpty { return subtree.value }
            reference = nextChild()
        }
    }

    /// Returns the child that the innermost container waits for; there is one.
    private func nextChild() -> Int {
        let container = containers[containers.count - 1]
        return container.children[container.values.count]
    }

    /// Returns the tree below an object, or nil if it is a container that was opened.
    private mutating func begin(_ reference: Int) throws(PropertyListError) -> Subtree? {
        if let subtree = finished[reference] { return subtree }
        guard !open.contains(reference) else { throw .malformed("a container that holds itself") }
        var container: Container
        switch try objects.object(reference) {
        case .scalar(let value): return keep(Subtree(value: value), for: reference)
        case .array(let children): container = Container(reference: reference, keys: nil, children: children)
        case .dictionary(let keys, let children):
            container = Container(reference: reference, keys: try strings(keys), children: children)
        }
        guard containers.count < StoredValue.maximumDepth else { throw .tooDeep }
        guard container.children.count < PropertyListFormat.maximumValues else { throw .tooManyValues }
        container.values.reserveCapacity(container.children.count)
        open.insert(reference)
        containers.append(container)
        return container.children.isEmpty ? try close() : nil
    }

    private mutating func keep(_ subtree: Subtree, for reference: Int) -> Subtree {
        finished[reference] = subtree
        return subtree
    }

    private mutating func strings(_ references: [Int]) throws(PropertyListError) -> [String] {
        var strings: [String] = []
        for reference in references {
            if finished[reference] == nil, case .scalar(let value) = try objects.object(reference) {
                finished[reference] = Subtree(value: value)
            }
            guard case .string(let string) = finished[reference]?.value else {
                throw .malformed("a key that is no string")
            }
            strings.append(string)
        }
        return strings
    }

    private mutating func add(_ subtree: Subtree, to index: Int) throws(PropertyListError) {
        containers[index].values.append(subtree.value)
        containers[index].valueCount += subtree.valueCount
        containers[index].depth = max(containers[index].depth, subtree.depth + 1)
        guard containers[index].valueCount <= PropertyListFormat.maximumValues else { throw .tooManyValues }
        // A subtree that was read before may be used at a greater depth now.
        guard index + 1 + subtree.depth <= StoredValue.maximumDepth else { throw .tooDeep }
    }

    /// Removes the innermost container, which has all its children.
    private mutating func close() throws(PropertyListError) -> Subtree {
        let container = containers.removeLast()
        open.remove(container.reference)
        var value = StoredValue.array(container.values)
        if let keys = container.keys {
            let entries = Dictionary(zip(keys, container.values)) { first, _ in first }
            guard entries.count == keys.count else { throw .malformed("a key twice in a dictionary") }
            value = .dictionary(entries)
        }
        let subtree = Subtree(value: value, valueCount: container.valueCount, depth: container.depth)
        return keep(subtree, for: container.reference)
    }
}
