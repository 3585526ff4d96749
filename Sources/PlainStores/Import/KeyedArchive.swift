import FoundationEssentials
import PropertyList

/// A reader of NSKeyedArchiver archives: property lists with an array of objects that refer to each other by index.
///
/// The reader recognizes a Foundation object by its fields, whose names begin with `NS.`, not by its class, because
/// subclasses and bridged Swift types have the same fields. Any other object becomes a dictionary of its fields.
///
/// An object is decoded once per reference, so a few objects with many references could become a huge tree. The reader
/// therefore limits the tree's size. It also limits the depth, since decoding is recursive. Whatever the property list
/// contains, the reader returns a result or throws an `ImportFinding`.
struct KeyedArchive {
    /// The maximum nesting depth, the same as for JSON. A Foundation array counts as two levels.
    static let maximumDepth = JSONSurvey.maximumDepth

    private static let null = StoredValue.string("$null")

    private let objects: [StoredValue]
    /// The indices of the objects on the path from the root to the object being decoded.
    private var open: Set<Int> = []
    private var valueCount = 0
    private var size = 0

    /// Returns the fields of an archive's root object; nil if the property list is not a keyed archive.
    static func values(in list: [String: StoredValue]) throws(ImportFinding) -> [String: StoredValue]? {
        guard list["$archiver"] != nil else { return nil }
        guard case .array(let objects) = list["$objects"], case .dictionary(let top) = list["$top"] else {
            throw .damagedArchive("it has no objects")
        }
        // Some programs archive the root under a key other than "root". It is then usually the only top-level object.
        guard let root = top["root"] ?? (top.count == 1 ? top.first?.value : nil) else {
            throw .unsupportedArchive("it has \(top.isEmpty ? "no root" : "several roots")")
        }
        var archive = KeyedArchive(objects: objects)
        let value = try archive.value(of: root, depth: 0)
        guard case .dictionary(let values) = value else {
            throw .unsupportedArchive("its root is \(value.typeName), not a dictionary or an object with fields")
        }
        return values
    }

    private init(objects: [StoredValue]) { self.objects = objects }

    /// Returns the value that a form represents. A form is either the value's content or a reference to an object.
    private mutating func value(of form: StoredValue, depth: Int) throws(ImportFinding) -> StoredValue {
        valueCount += 1
        guard valueCount <= PropertyListFormat.maximumValues else {
            throw .unsupportedArchive("it holds more than \(PropertyListFormat.maximumValues) values")
        }
        guard let index = KeyedArchive.reference(form) else { return try content(of: form, depth: depth) }
        let object = try self.object(at: index)
        if index == 0, object == KeyedArchive.null { return .null }
        guard open.insert(index).inserted else { throw .unsupportedArchive("an object in it contains itself") }
        defer { open.remove(index) }
        return try content(of: object, depth: depth)
    }

    private mutating func content(of form: StoredValue, depth: Int) throws(ImportFinding) -> StoredValue {
        guard depth <= KeyedArchive.maximumDepth else {
            throw .unsupportedArchive("it is nested more than \(KeyedArchive.maximumDepth) levels deep")
        }
        switch form {
        case .array(let forms):
            var values: [StoredValue] = []
            for form in forms { values.append(try value(of: form, depth: depth + 1)) }
            return .array(values)
        case .dictionary(let forms):
            let className = try className(forms["$class"])
            var fields: [String: StoredValue] = [:]
            for (name, form) in forms where name != "$class" {
                try count(name.utf8.count)
                fields[name] = try value(of: form, depth: depth + 1)
            }
            return className == "NSNull" && fields.isEmpty ? .null : try KeyedArchive.value(with: fields)
        case .string(let text): try count(text.utf8.count)
        case .data(let bytes): try count(bytes.count)
        default: break
        }
        return form
    }

    /// Adds a string's or data's size to the total, once per reference, since each copy is hashed and stored.
    private mutating func count(_ bytes: Int) throws(ImportFinding) {
        size += bytes
        guard size <= PropertyListFormat.maximumSize else {
            throw .unsupportedArchive("it holds more than \(PropertyListFormat.maximumSize >> 20) MiB")
        }
    }

    private func className(_ form: StoredValue?) throws(ImportFinding) -> String? {
        guard let form else { return nil }
        guard let index = KeyedArchive.reference(form), case .dictionary(let description) = try object(at: index),
            case .string(let name) = description["$classname"]
        else { throw .damagedArchive("an object in it has no class") }
        return name
    }

    private func object(at index: Int) throws(ImportFinding) -> StoredValue {
        guard objects.indices.contains(index) else { throw .damagedArchive("it refers to an object that is missing") }
        // Chains of references are refused, since following one uses stack space but does not count as nesting.
        guard KeyedArchive.reference(objects[index]) == nil else {
            throw .damagedArchive("an object in it is a reference")
        }
        return objects[index]
    }

    /// Returns the index of the object to which an archived value refers; nil if the value is not a reference.
    private static func reference(_ form: StoredValue) -> Int? {
        guard case .dictionary(let fields) = form, fields.count == 1,
            case .integer(let index) = fields[PropertyListFormat.uidKey]
        else { return nil }
        return Int(clamping: index)
    }
}

extension KeyedArchive {
    private static let foundationFields: Set<String> = [
        "NS.string", "NS.number", "NS.data", "NS.time", "NS.relative", "NS.uuidbytes", "NS.objects",
    ]

    /// Converts an archived object. A Foundation object becomes its value, and any other a dictionary of its fields.
    private static func value(with fields: [String: StoredValue]) throws(ImportFinding) -> StoredValue {
        if fields.count == 2, let objects = fields["NS.objects"], let keys = fields["NS.keys"] {
            return .dictionary(try entries(keys, objects))
        }
        if fields.count == 2, let relative = fields["NS.relative"], let base = fields["NS.base"] {
            return .string(try address(relative, base))
        }
        guard fields.count == 1, let (name, value) = fields.first else { return .dictionary(fields) }
        switch (name, value) {
        case ("NS.string", .string), ("NS.data", .data), ("NS.relative", .string), ("NS.objects", .array),
            ("NS.number", .boolean), ("NS.number", .integer), ("NS.number", .real):
            return value
        case ("NS.time", .real(let seconds)) where seconds.isFinite:
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case ("NS.time", .integer(let seconds)): return .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
        case ("NS.uuidbytes", .data(let bytes)) where bytes.count == MemoryLayout<uuid_t>.size:
            return UUID.stored(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        default:
            guard !foundationFields.contains(name) else { throw .damagedArchive("a value in it has the wrong type") }
            return .dictionary(fields)
        }
    }

    private static func entries(
        _ keys: StoredValue, _ objects: StoredValue
    ) throws(ImportFinding) -> [String: StoredValue] {
        guard case .array(let keys) = keys, case .array(let objects) = objects, keys.count == objects.count else {
            throw .damagedArchive("a dictionary in it has no value for a key")
        }
        var entries: [String: StoredValue] = [:]
        for (key, object) in zip(keys, objects) {
            let text: String
            switch key {
            case .string(let key): text = key
            case .integer(let key): text = Int128.text(of: key)
            default: throw .unsupportedArchive("a key of a dictionary in it is \(key.typeName), not a string")
            }
            guard entries.updateValue(object, forKey: text) == nil else {
                throw .damagedArchive("a dictionary in it contains a key twice")
            }
        }
        return entries
    }

    private static func address(_ relative: StoredValue, _ base: StoredValue) throws(ImportFinding) -> String {
        switch (relative, base) {
        case (.string(let relative), .null): return relative
        case (.string(let relative), .string(let base)):
            if let base = URL(string: base), let url = URL(string: relative, relativeTo: base) {
                return url.absoluteString
            }
        default: break
        }
        throw .damagedArchive("an address in it is not a URL")
    }
}

extension ImportFinding {
    fileprivate static func damagedArchive(_ what: String) -> Self {
        Self(text: "this keyed archive is damaged: \(what)")
    }

    /// Returns the error for an intact archive that this reader does not support. NSKeyedUnarchiver may read it.
    fileprivate static func unsupportedArchive(_ what: String) -> Self {
        Self(
            text: """
                this keyed archive cannot be read here: \(what). Read it with NSKeyedUnarchiver, write its values to a \
                JSON file, and import that
                """)
    }
}
