import Foundation
import PropertyList
import Testing

@Suite("Property lists made by others")
struct FixtureTests {
    /// What Fixtures/make.py puts in.
    private static let tree = StoredValue.dictionary([
        "empty": .string(""), "text": .string(" grüße\t🔑 <&> "), "yes": .boolean(true), "no": .boolean(false),
        "one": .integer(1), "one point zero": .real(1), "negative zero": .real(-0.0), "tenth": .real(0.1),
        "smallest": .real(.leastNonzeroMagnitude), "largest": .real(.greatestFiniteMagnitude),
        "infinite": .real(-.infinity),
        "least": .integer(Int128(Int64.min)), "greatest": .integer(Int128(UInt64.max)), "byte": .integer(255),
        "short": .integer(65_535), "long": .integer(4_294_967_295),
        "date": .date(Date(timeIntervalSinceReferenceDate: -992_490_140)), "data": .data(Data(0..<100)),
        "nothing": .array([]), "none": .dictionary([:]), "first": .array([.string("one"), .string("two")]),
        "second": .array([.string("one"), .string("two")]),
        "deep": .array([.array([.dictionary(["a": .array([.dictionary(["b": .array(leaves)])])])])]),
        "many": .array((0..<20).map { .integer($0) }),
    ])
    private static let leaves: [StoredValue] = [.integer(1), .real(2.5), .string("x")]

    private func bytes(_ name: String) throws -> [UInt8] {
        let file = Bundle.module.bundleURL.appending(path: "Fixtures/\(name).plist")
        return try Array(Data(contentsOf: file))
    }

    @Test(
        arguments: [("plistlib-xml", .xml), ("plistlib-binary", .binary), ("plutil-binary", .binary)]
            as [(String, PropertyListFormat)])
    func aFileMadeByAnotherToolIsReadExactly(name: String, format: PropertyListFormat) throws {
        let (tree, found) = try PropertyListFormat.parse(bytes(name))
        #expect(tree == Self.tree)
        #expect(found == format)
    }

    @Test(arguments: ["plistlib-xml", "plistlib-binary"])
    func anyPrefixOfAFileIsAnError(name: String) throws {
        var whole = try bytes(name)
        while whole.last == UInt8(ascii: "\n") { whole.removeLast() }
        for count in 0..<whole.count {
            #expect(
                code { () throws(PropertyListError) in _ = try StoredValue(parsing: Array(whole.prefix(count))) }
                    != nil)
        }
    }

    @Test(arguments: ["plistlib-xml", "plistlib-binary"])
    func anyChangedByteGivesATreeOrAnError(name: String) throws {
        let whole = try bytes(name)
        for offset in whole.indices {
            for flip: UInt8 in [0x01, 0x10, 0x80, 0xff] {
                var changed = whole
                changed[offset] ^= flip
                guard let tree = try? StoredValue(parsing: changed) else { continue }
                #expect(try StoredValue(parsing: tree.binary()) == tree)
            }
        }
    }
}
