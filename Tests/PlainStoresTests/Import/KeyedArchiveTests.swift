import Foundation
import PropertyList
import TestSupport
import Testing

@testable import PlainStores

@Suite("A keyed archive")
struct KeyedArchiveTests {
    /// What KeyedArchives/make.py puts in, as it is read.
    private static let object: [String: StoredValue] = [
        "id": .string("id-ada"), "username": .string("ada"), "token": .string("canary-token"),
        "refreshToken": .string("canary-refresh"), "nickname": .string("Ada"), "points": .integer(10),
        "verified": .boolean(true), "ratio": .real(0.5), "level": .integer(-7), "score": .real(2.5),
        "registerTime": .date(Date(timeIntervalSinceReferenceDate: 721_692_800.25)), "avatar": .data(Data(0..<20)),
        "thumbnail": .data(Data("thumbnail".utf8)), "home": .string("https://example.org/ada/"),
        "blog": .string("https://example.org/ada/blog?page=1"),
        "device": .string("00010203-0405-0607-0809-0A0B0C0D0E0F"),
        "collectIds": .array([.string("c"), .string("ada")]), "tags": .array([.string("x"), .integer(1)]),
        "settings": .dictionary(["dark": .boolean(true), "none": .null, "7": group]), "group": group,
        "nothing": .string("$null"),
    ]
    private static let group = StoredValue.dictionary(["name": .string("g"), "level": .integer(3), "owner": .null])
    private static let dictionary: [String: StoredValue] = [
        "id": .integer(7), "username": .string("ada"), "token": .string("canary-token"), "nickname": .string("Ada"),
        "points": .integer(10),
    ]

    @Test(
        arguments: [
            ("object-binary", object), ("object-xml", object), ("dictionary-binary", dictionary),
            ("dictionary-xml", dictionary),
        ] as [(String, [String: StoredValue])])
    func givesTheFieldsOfItsRoot(name: String, values: [String: StoredValue]) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("account")
        try overwrite(path, keyedArchive(name))
        let read = try PlainFile(path: path)?.values
        for name in Set(values.keys).union(read?.keys.map(\.self) ?? []) { #expect(read?[name] == values[name]) }
    }

    @Test func madeByFoundationItselfIsRead() throws {
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        let uuid = UUID()
        let root: NSDictionary = [
            "text": "Ada", "number": 7, "real": 1.5, "yes": true, "date": date, "data": Data([1, 2]),
            "uuid": uuid as NSUUID, "list": ["a", ["b"]] as NSArray,
            "url": try #require(NSURL(string: "https://a.b/c")),
            "map": ["x": NSNull()] as NSDictionary,
        ]
        let archive = try NSKeyedArchiver.archivedData(withRootObject: root, requiringSecureCoding: false)
        let values: [String: StoredValue] = [
            "text": .string("Ada"), "number": .integer(7), "real": .real(1.5), "yes": .boolean(true),
            "date": .date(date), "data": .data(Data([1, 2])), "uuid": .string(uuid.uuidString),
            "list": .array([.string("a"), .array([.string("b")])]), "url": .string("https://a.b/c"),
            "map": .dictionary(["x": .null]),
        ]
        let read = try PlainFile.values(in: Array(archive))
        for name in Set(values.keys).union(read.keys) { #expect(read[name] == values[name], "\(name)") }
    }

    @Test func mayNameItsRootAsItLikes() throws {
        let objects: [StoredValue] = [.string("$null"), .dictionary(["id": .integer(7)])]
        for top in [["account": reference(1)], ["account": reference(0), "root": reference(1)]] {
            #expect(try PlainFile.values(in: archive(of: objects, top: top)) == ["id": .integer(7)])
        }
    }

    @Test func mayHoldSubclassesOfFoundationWhoseFieldsAreKept() throws {
        let objects: [StoredValue] = [
            .string("$null"), .dictionary(["plain": reference(2), "own": reference(3)]),
            .dictionary(["$class": reference(4), "NS.string": .string("a")]),
            .dictionary(["$class": reference(4), "NS.string": .string("a"), "language": .string("en")]),
            .dictionary(["$classname": .string("Club.Text")]),
        ]
        let own = StoredValue.dictionary(["NS.string": .string("a"), "language": .string("en")])
        #expect(try PlainFile.values(in: archive(of: objects)) == ["plain": .string("a"), "own": own])
    }

    /// Its file is imported as one in XML is; the preferences, which would have to write the UID again, refuse it.
    @Test func isToldFromAnotherFileWithUIDs() throws {
        let bytes = try keyedArchive("no-archive")
        let folder = try TemporaryFolder()
        let path = folder.file("list.plist")
        try overwrite(path, bytes)
        #expect(try PlainFile(path: path)?.values == ["a": reference(5)])
        #expect(try VaultError.code { _ = try Preferences(path: path).keys() } == .damaged)
        #expect(try contents(path) == bytes)
    }
}
