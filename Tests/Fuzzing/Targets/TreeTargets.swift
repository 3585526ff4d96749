import Foundation
import PropertyList
import Vault

// Parsers that build a tree of values: what they have read is written again, and read as the same.

extension FuzzTarget {
    static let xml = FuzzTarget(name: "xml") {
        try propertyLists { !$0.starts(with: "bplist".utf8) }
    } feed: { input, _ in
        guard !input.starts(with: "bplist".utf8) else { return }
        checkPropertyList(input, .xml)
    }

    static let binary = FuzzTarget(name: "binary") {
        try propertyLists { $0.starts(with: "bplist".utf8) }
    } feed: { input, _ in
        checkPropertyList(Array("bplist00".utf8) + input.dropFirst(8), .binary)
    }

    static let json = FuzzTarget(name: "json") {
        let texts = [
            #"{"token": "t", "refresh": "\u00e9\n", "points": 10, "scale": -1.5e3, "old": null, "yes": [true, false, {}]}"#,
            #"[18446744073709551615, -9223372036854775808, 0.1, [[]], {"a": {"a": ""}}]"#, "1", "\"\"",
        ]
        return texts.map { Array($0.utf8) }
            + (try fixtures(in: "Interop/Vectors", ending: ".json").map { try $0.bytes })
            .filter { $0.count <= 1_024 }
    } feed: { input, _ in
        guard let value = try? StoredValue(json: input) else { return }
        check(value.depth <= 129, "JSON that is nested too deeply was read")
        checkCoding(of: value)
    }

    static let value = FuzzTarget(name: "value") {
        let lists = try propertyLists { _ in true } + KeyedArchives.files.map { try $0.bytes }
        let trees = lists.compactMap { try? PropertyListFormat.parse($0, allowsUIDs: true).tree }
        return try (trees + [.null, .real(.nan), .date(Date(timeIntervalSinceReferenceDate: 0.1))]).map { try $0.bytes }
    } feed: { input, _ in
        if let value = StoredValue(bytes: input) { checkCoding(of: value) }
    }

    private static func propertyLists(_ isWanted: ([UInt8]) -> Bool) throws -> [[UInt8]] {
        let files = try fixtures(in: "PropertyListTests/Fixtures", ending: ".plist") + KeyedArchives.files
        return try files.map { try $0.bytes }.filter(isWanted)
    }

    private static func checkPropertyList(_ input: [UInt8], _ format: PropertyListFormat) {
        for allowsUIDs in [false, true] {
            guard let (tree, found) = try? PropertyListFormat.parse(input, allowsUIDs: allowsUIDs) else { continue }
            check(found == format, "the format changed on the way")
            // A tree may grow beyond the limits when objects that a file shares are written each by itself.
            for format in [PropertyListFormat.xml, .binary] {
                guard let written = try? format.serialized(tree) else { continue }
                guard let again = try? PropertyListFormat.parse(written).tree else {
                    fatalError("what was written as \(format) does not parse")
                }
                check(again.inText == tree.inText, "what was written as \(format) is another tree")
            }
        }
    }

    /// A value's bytes are those of this value, and of no other.
    static func checkCoding(of value: StoredValue) {
        guard let bytes = try? value.bytes else { fatalError("a value that was read cannot be stored") }
        guard let again = StoredValue(bytes: bytes) else { fatalError("a stored value is not read") }
        check(again.withOneNaN == value.withOneNaN, "a stored value is read as another")
        check((try? again.bytes) == bytes, "equal values have other bytes")
    }
}

enum KeyedArchives {
    static var files: [URL] {
        get throws { try FuzzTarget.fixtures(in: "TestSupport/KeyedArchives", ending: ".plist") }
    }
}

extension StoredValue {
    /// The same with one NaN for all: only binary property lists tell which NaN it is, text says `nan`.
    fileprivate var withOneNaN: StoredValue { withOneNaN { $0 } }

    /// The same as a text says it, which has no date of minus zero seconds either.
    fileprivate var inText: StoredValue { withOneNaN { $0 + 0 } }

    private func withOneNaN(_ date: (TimeInterval) -> TimeInterval) -> StoredValue {
        switch self {
        case .real(let number) where number.isNaN: .real(.nan)
        case .date(let value) where value.timeIntervalSinceReferenceDate.isNaN:
            .date(Date(timeIntervalSinceReferenceDate: .nan))
        case .date(let value):
            .date(Date(timeIntervalSinceReferenceDate: date(value.timeIntervalSinceReferenceDate)))
        case .array(let values): .array(values.map { $0.withOneNaN(date) })
        case .dictionary(let values): .dictionary(values.mapValues { $0.withOneNaN(date) })
        default: self
        }
    }

    fileprivate var depth: Int {
        switch self {
        case .array(let values): 1 + (values.map(\.depth).max() ?? 0)
        case .dictionary(let values): 1 + (values.values.map(\.depth).max() ?? 0)
        default: 1
        }
    }
}
