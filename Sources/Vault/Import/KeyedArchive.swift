import FoundationEssentials
import PropertyList

/// Reads what `NSKeyedArchiver` has written: a property list whose `$objects` refer to each other by UIDs, and whose
/// `$top` names the root. Objects become the values that they hold, and those of other classes dictionaries of their
/// fields.
///
/// Source: the archives that Foundation writes. Total: whatever the objects are, it returns values or throws.
struct KeyedArchive {
    /// Why an archive cannot be read, as a part of a sentence. It names no value.
    struct Failure: Error {
        let text: String
    }

    /// A decoded object, and how many values it consists of.
    private struct Decoded {
        var value: StoredValue
        var count = 1
    }

    /// Deeper nesting would take more stack than a thread has.
    private static let maximumDepth = 128

    private let objects: [StoredValue]
    /// What was decoded, by index; nil for an object that is being decoded. An object may be referred to many times.
    private var decoded: [Int: Decoded?] = [:]

    static func isOne(_ list: [String: StoredValue]) -> Bool {
        list["$archiver"] != nil && list["$objects"] != nil && list["$top"] != nil
    }

    /// Returns the fields of the archive's root, without those that are nil.
    static func values(of list: [String: StoredValue]) throws(Failure) -> [String: StoredValue] {
        guard case .array(let objects)? = list["$objects"], case .dictionary(let top)? = list["$top"] else {
            throw Failure(text: "it has no objects")
        }
        guard let root = top["root"] ?? (top.count == 1 ? top.values.first : nil) else {
            throw Failure(text: "it has no root")
        }
        var archive = KeyedArchive(objects: objects)
        guard case .dictionary(let values) = try archive.decode(root, depth: 0).value else {
            throw Failure(text: "its root is neither a dictionary nor an object with fields")
        }
        return values.filter { $0.value != .null }
    }

    private init(objects: [StoredValue]) { self.objects = objects }

    /// Decodes a field: a UID stands for the object, anything else for itself.
    private mutating func decode(_ field: StoredValue, depth: Int) throws(Failure) -> Decoded {
        guard depth < KeyedArchive.maximumDepth else { throw Failure(text: "it is nested too deeply") }
        guard let uid = KeyedArchive.uid(field) else { return try decode(object: field, depth: depth) }
        guard let index = Int(exactly: uid), objects.indices.contains(index) else {
            throw Failure(text: "it refers to an object that it does not have")
        }
        if let known = decoded[index] {
            guard let known else { throw Failure(text: "an object holds itself") }
            return known
        }
        decoded.updateValue(nil, forKey: index)
        let object = index == 0 && objects[0] == .string("$null") ? .null : objects[index]
        let result = try decode(object: object, depth: depth + 1)
        decoded[index] = .some(result)
        return result
    }

    private mutating func decode(object: StoredValue, depth: Int) throws(Failure) -> Decoded {
        switch object {
        case .array(let fields): return try decode(array: fields, depth: depth)
        case .dictionary(let fields): return try decode(fields, of: className(fields), depth: depth)
        default: return Decoded(value: object)
        }
    }

    private mutating func decode(
        _ fields: [String: StoredValue], of className: String?, depth: Int
    ) throws(Failure) -> Decoded {
        switch className?.replacing("Mutable", with: "") {
        case "NSString": return Decoded(value: try scalar(fields["NS.string"]))
        case "NSData": return Decoded(value: try scalar(fields["NS.data"]))
        case "NSURL": return try decode(fields["NS.relative"] ?? .null, depth: depth + 1)
        case "NSNull": return Decoded(value: .null)
        case "NSDate":
            guard let time = fields["NS.time"], let seconds = Double.primitive(of: time) else {
                throw Failure(text: "a date has no time")
            }
            return Decoded(value: .date(Date(timeIntervalSinceReferenceDate: seconds)))
        case "NSUUID":
            guard case .data(let bytes)? = fields["NS.uuidbytes"], bytes.count == 16 else {
                throw Failure(text: "a UUID has no bytes")
            }
            let uuid = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
            return Decoded(value: .string(uuid.uuidString))
        case "NSArray", "NSSet", "NSOrderedSet": return try decode(array: list(fields["NS.objects"]), depth: depth)
        case "NSDictionary":
            let (keys, values) = (try list(fields["NS.keys"]), try list(fields["NS.objects"]))
            guard keys.count == values.count else { throw Failure(text: "a dictionary lacks a value") }
            var pairs: [(String, StoredValue)] = []
            for (key, value) in zip(keys, values) {
                guard case .string(let name) = try decode(key, depth: depth + 1).value else {
                    throw Failure(text: "a dictionary has a key that is not a string")
                }
                pairs.append((name, value))
            }
            return try decode(pairs: pairs, depth: depth)
        default: return try decode(pairs: fields.filter { $0.key != "$class" }.map { ($0.key, $0.value) }, depth: depth)
        }
    }

    private mutating func decode(array fields: [StoredValue], depth: Int) throws(Failure) -> Decoded {
        var (values, count) = ([StoredValue](), 1)
        for field in fields {
            let element = try decode(field, depth: depth + 1)
            values.append(element.value)
            count = try total(count, element.count)
        }
        return Decoded(value: .array(values), count: count)
    }

    private mutating func decode(pairs: [(String, StoredValue)], depth: Int) throws(Failure) -> Decoded {
        var (values, count) = ([String: StoredValue](), 1)
        for (name, field) in pairs {
            let value = try decode(field, depth: depth + 1)
            guard values.updateValue(value.value, forKey: name) == nil else {
                throw Failure(text: "a dictionary has a key twice")
            }
            count = try total(count, value.count)
        }
        return Decoded(value: .dictionary(values), count: count)
    }

    /// A small archive may refer to its objects so often that they are more values than any machine holds.
    private func total(_ count: Int, _ more: Int) throws(Failure) -> Int {
        guard count + more <= PropertyListFormat.maximumValues else { throw Failure(text: "it has too many values") }
        return count + more
    }

    private func scalar(_ field: StoredValue?) throws(Failure) -> StoredValue {
        switch field {
        case .string?, .data?: return field ?? .null
        default: throw Failure(text: "a text or data has no content")
        }
    }

    private func list(_ field: StoredValue?) throws(Failure) -> [StoredValue] {
        guard case .array(let fields)? = field else { throw Failure(text: "a collection has no objects") }
        return fields
    }

    /// Returns the class of an object; nil if it has none, as a plain dictionary.
    private func className(_ fields: [String: StoredValue]) -> String? {
        guard let uid = fields["$class"].flatMap(KeyedArchive.uid), let index = Int(exactly: uid),
            objects.indices.contains(index), case .dictionary(let description) = objects[index],
            case .string(let name)? = description["$classname"]
        else { return nil }
        return name
    }

    private static func uid(_ field: StoredValue) -> Int128? {
        guard case .dictionary(let fields) = field, fields.count == 1,
            case .integer(let uid)? = fields[PropertyListFormat.uidKey]
        else { return nil }
        return uid
    }
}
