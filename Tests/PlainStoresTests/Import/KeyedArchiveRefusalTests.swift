import Foundation
import PropertyList
import TestSupport
import Testing

@testable import PlainStores

@Suite("A keyed archive that is refused")
struct KeyedArchiveRefusalTests {
    /// An archive whose root has one field, the object with the index 2.
    private struct Archive: CustomTestStringConvertible {
        var objects: [StoredValue] = [.string("$null"), .dictionary(["field": reference(2)])]
        var top = ["root": reference(1)]
        let testDescription: String

        /// - Parameter objects: begin with the index 2.
        init(_ objects: StoredValue..., fields: [String: StoredValue]? = nil, says sentence: String) {
            self.objects += fields.map { [.dictionary($0)] + objects } ?? objects
            testDescription = sentence
        }

        init(root: StoredValue, says sentence: String) {
            objects[1] = root
            testDescription = sentence
        }

        init(top: [String: StoredValue], says sentence: String) {
            self.top = top
            testDescription = sentence
        }

        /// Arrays of which each holds the next one `width` times.
        init(arrays depth: Int, width: Int = 1, says sentence: String = "") {
            objects += (0..<depth).map { .array(Array(repeating: reference($0 + 3), count: width)) }
            objects.append(.array([]))
            testDescription = sentence
        }
    }

    private func error(_ bytes: [UInt8]) throws -> VaultError? {
        let folder = try TemporaryFolder()
        let path = folder.file("account")
        try overwrite(path, bytes)
        do { _ = try PlainFile(path: path) } catch {
            #expect(try contents(path) == bytes)
            return error
        }
        return nil
    }

    @Test(arguments: [
        Archive(top: [:], says: "it has no root"),
        Archive(top: ["a": reference(1), "b": reference(1)], says: "it has several roots"),
        Archive(top: ["root": .integer(1)], says: "its root is an integer, not a dictionary or an object with fields"),
        Archive(top: ["root": reference(0)], says: "its root is nothing, not a dictionary or an object with fields"),
        Archive(root: .string("canary"), says: "its root is a string, not a dictionary or an object with fields"),
        Archive(root: .array([]), says: "its root is an array, not a dictionary or an object with fields"),
        Archive(
            root: .dictionary(["NS.string": .string("canary")]),
            says: "its root is a string, not a dictionary or an object with fields"),
        Archive(root: .dictionary(["owner": reference(1)]), says: "an object in it contains itself"),
        Archive(.array([reference(3)]), .array([reference(2)]), says: "an object in it contains itself"),
        Archive(arrays: 128, says: "it is nested more than 128 levels deep"),
        Archive(arrays: 20, width: 2, says: "it holds more than 1000000 values"),
        Archive(
            .array(Array(repeating: reference(3), count: 65)), .string(String(repeating: "a", count: 1 << 20)),
            says: "it holds more than 64 MiB"),
        Archive(
            .array(Array(repeating: reference(3), count: 65)),
            .dictionary([String(repeating: "a", count: 1 << 20): .integer(1)]), says: "it holds more than 64 MiB"),
        Archive(
            fields: ["NS.keys": .array([.real(1)]), "NS.objects": .array([.string("canary")])],
            says: "a key of a dictionary in it is a real number, not a string"),
    ])
    private func becauseItIsNoAccountSaysWhatToDo(_ refused: Archive) throws {
        let error = try #require(try error(archive(of: refused.objects, top: refused.top)))
        #expect(error.code == .damaged)
        #expect(
            error.message.hasSuffix(
                """
                : this keyed archive cannot be read here: \(refused.testDescription). Read it with NSKeyedUnarchiver, \
                write its values to a JSON file, and import that.
                """))
        #expect(!error.message.contains("canary"))
    }

    @Test(arguments: [
        Archive(top: ["root": reference(3)], says: "it refers to an object that is missing"),
        Archive(top: ["root": reference(-1)], says: "it refers to an object that is missing"),
        Archive(top: ["root": reference(.max)], says: "it refers to an object that is missing"),
        Archive(says: "it refers to an object that is missing"),
        Archive(reference(3), .array([]), says: "an object in it is a reference"),
        Archive(reference(2), says: "an object in it is a reference"),
        Archive(fields: ["$class": reference(3)], says: "it refers to an object that is missing"),
        Archive(fields: ["$class": reference(2)], says: "an object in it has no class"),
        Archive(fields: ["$class": .string("canary")], says: "an object in it has no class"),
        Archive(fields: ["NS.string": .integer(1)], says: "a value in it has the wrong type"),
        Archive(fields: ["NS.number": .string("canary")], says: "a value in it has the wrong type"),
        Archive(fields: ["NS.data": .string("canary")], says: "a value in it has the wrong type"),
        Archive(fields: ["NS.time": .string("canary")], says: "a value in it has the wrong type"),
        Archive(fields: ["NS.time": .real(.nan)], says: "a value in it has the wrong type"),
        Archive(fields: ["NS.relative": .data(Data())], says: "a value in it has the wrong type"),
        Archive(fields: ["NS.objects": .string("canary")], says: "a value in it has the wrong type"),
        Archive(fields: ["NS.uuidbytes": .data(Data(0..<15))], says: "a value in it has the wrong type"),
        Archive(
            fields: ["NS.relative": .string("canary"), "NS.base": .integer(1)], says: "an address in it is not a URL"),
        Archive(
            fields: ["NS.keys": .array([.string("a")]), "NS.objects": .array([])],
            says: "a dictionary in it has no value for a key"),
        Archive(
            fields: ["NS.keys": .string("a"), "NS.objects": .array([])],
            says: "a dictionary in it has no value for a key"),
        Archive(
            fields: [
                "NS.keys": .array([.string("1"), .integer(1)]), "NS.objects": .array([.integer(1), .integer(2)]),
            ],
            says: "a dictionary in it contains a key twice"),
    ])
    private func becauseItIsDamagedSaysSo(_ refused: Archive) throws {
        let error = try #require(try error(archive(of: refused.objects, top: refused.top)))
        #expect(error.code == .damaged)
        #expect(error.message.hasSuffix(": this keyed archive is damaged: \(refused.testDescription)."))
        #expect(!error.message.contains("canary"))
    }

    @Test func becauseItHasNoObjectsSaysSo() throws {
        let list = StoredValue.dictionary(["$archiver": .string("NSKeyedArchiver"), "$objects": .array([])])
        #expect(
            try error(PropertyListFormat.binary.serialized(list))?.message.hasSuffix("damaged: it has no objects.")
                == true)
    }

    @Test func isNotOneThatIsAsDeepAsAllowedOrHoldsAnObjectTwice() throws {
        let deep = try archive(of: Archive(arrays: 127).objects)
        try onSmallStack { () throws in #expect(try PlainFile.values(in: deep).count == 1) }
        let shared = try archive(of: Archive(arrays: 10, width: 2).objects)
        #expect(try PlainFile.values(in: shared).count == 1)
    }
}

/// Whatever the bytes are, an archive is read or refused.
@Suite("Damaged keyed archives")
struct DamagedArchiveTests {
    /// Returns whether the bytes are read. Another error than these two is a failure.
    private func isRead(_ bytes: [UInt8]) throws -> Bool {
        do { _ = try PlainFile.values(in: bytes) } catch is ImportFinding { return false } catch is PropertyListError {
            return false
        }
        return true
    }

    @Test(arguments: ["object-binary", "dictionary-xml"])
    func areRefusedIfTheirEndIsMissing(_ name: String) throws {
        var whole = try keyedArchive(name)
        while whole.last == UInt8(ascii: "\n") { whole.removeLast() }
        #expect(try isRead(whole))
        for count in 0..<whole.count { #expect(try !isRead(Array(whole.prefix(count)))) }
    }

    @Test(arguments: ["object-binary", "dictionary-binary"])
    func areReadOrRefusedWhereverABitIsWrong(_ name: String) throws {
        let whole = try keyedArchive(name)
        var refused = 0
        for offset in whole.indices {
            for bit in 0..<8 {
                var changed = whole
                changed[offset] ^= 1 << UInt8(bit)
                if try !isRead(changed) { refused += 1 }
            }
        }
        #expect(refused > whole.count)
    }

    @Test func areReadOrRefusedWhateverCharacterIsWrong() throws {
        let whole = try keyedArchive("dictionary-xml")
        for offset in whole.indices {
            for change: UInt8 in [0x01, 0x04] {
                var changed = whole
                changed[offset] ^= change
                _ = try isRead(changed)
            }
        }
    }

    /// References are where an archive differs from other property lists.
    @Test(arguments: 0..<20)
    func areReadOrRefusedWhereverTheirReferencesLead(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        guard case .dictionary(var list) = try PropertyListFormat.parse(keyedArchive("object-xml")).tree,
            case .array(let objects) = list["$objects"]
        else { throw CocoaError(.fileReadCorruptFile) }
        for _ in 0..<50 {
            list["$objects"] = .array(objects.map { redirected($0, among: objects.count, &generator) })
            _ = try isRead(PropertyListFormat.xml.serialized(.dictionary(list)))
        }
    }

    /// Changes some of the references in a value.
    private func redirected(
        _ value: StoredValue, among count: Int, _ generator: inout SeededGenerator
    ) -> StoredValue {
        switch value {
        case .array(let values): return .array(values.map { redirected($0, among: count, &generator) })
        case .dictionary(let fields) where fields["CF$UID"] != nil:
            guard Int.random(in: 0..<20, using: &generator) == 0 else { return value }
            return reference(Int.random(in: 0...count, using: &generator))
        case .dictionary(let fields):
            // In an order that the seed determines.
            return .dictionary(
                Dictionary(
                    uniqueKeysWithValues: fields.sortedByBytes.map { name, value in
                        (name, redirected(value, among: count, &generator))
                    }))
        default: return value
        }
    }
}
