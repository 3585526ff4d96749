import Foundation
import PropertyList
import TestSupport
import Testing

@testable import Vault

@Suite("Keyed archives")
struct KeyedArchiveTests {
    /// An object of a class of the old app's, as NSKeyedArchiver writes it. Made with Python's plistlib and its `UID`.
    private static let binary =
        Data(
            base64Encoded: """
                YnBsaXN0MDDUAQIDBAUGZGdZJGFyY2hpdmVyWCRvYmplY3RzVCR0b3BYJHZlcnNpb25fEA9OU0tleWVkQXJjaGl2ZXKvEBQH\
                CCEiJicrMTc7PkRHS0xTV1pdYVUkbnVsbNwJCgsMDQ4PEBESExQVFhcYGRobHB0eHyBWJGNsYXNzU2FnZVZkZXZpY2VVZXh0\
                cmFUaG9tZVJpZFVpc1Byb1RuaWNrVXNpbmNlVHRhZ3NVdG9rZW5YdXNlcm5hbWWACRAqgAyADoAKgAIJgACABYAGgASAA1Rp\
                ZC030gkjJCVZTlMuc3RyaW5ngA9TYWRhXGNhbmFyeS10b2tlbtIJKCkqV05TLnRpbWWAByNBxNyTgEAAANIJLC0uWk5TLm9i\
                amVjdHOACKIvMIACgALSMjM0NVgkY2xhc3Nlc1okY2xhc3NuYW1lojU2Vk5TRGF0ZVhOU09iamVjdNIyMzg5ozk6Nl5OU011\
                dGFibGVBcnJheVdOU0FycmF50jIzPD2iPTZeT2xkQXBwLkFjY291bnTTCT9AQUJDV05TLmJhc2VbTlMucmVsYXRpdmWAC4AA\
                gA3SMjNFRqJGNlVOU1VSTNIJSElKXE5TLnV1aWRieXRlc4AQTxAQAAECAwQFBgcICQoLDA0OD18QE2h0dHBzOi8vZXhhbXBs\
                ZS5vcmfTCU0sTk9RV05TLmtleXOAEaFQgAKhUoAS0jIzVFWjVVY2XxAPTlNNdXRhYmxlU3RyaW5nWE5TU3RyaW5n0jIzWFmi\
                WTZWTlNVVUlE0jIzW1yiXDZcTlNEaWN0aW9uYXJ50gleX2BXTlMuZGF0YYATQgEC0jIzYmOiYzZWTlNEYXRh0WVmVHJvb3SA\
                ARIAAYagAAgAEQAbACQAKQAyAEQAWwBhAHoAgQCFAIwAkgCXAJoAoAClAKsAsAC2AL8AwQDDAMUAxwDJAMsAzADOANAA0gDU\
                ANYA2wDgAOoA7ADwAP0BAgEKAQwBFQEaASUBJwEqASwBLgEzATwBRwFKAVEBWgFfAWMBcgF6AX8BggGRAZgBoAGsAa4BsAGy\
                AbcBugHAAcUB0gHUAecB/QIEAgwCDgIQAhICFAIWAhsCHwIxAjoCPwJCAkkCTgJRAl4CYwJrAm0CcAJ1AngCfwKCAocCiQAA\
                AAAAAAIBAAAAAAAAAGgAAAAAAAAAAAAAAAAAAAKO
                """) ?? Data()

    private func values(_ bytes: some Collection<UInt8>) throws -> [String: StoredValue]? {
        let folder = try TemporaryFolder()
        try overwrite(folder.file("account"), bytes)
        guard let file = try PlainFile(path: folder.file("account")) else { return nil }
        return file.values
    }

    /// The same archive as XML, whose UIDs are dictionaries.
    private static func xml() throws -> Data {
        try Data(PropertyListFormat.xml.serialized(PropertyListFormat.parse(Array(binary), allowsUIDs: true).tree))
    }

    @Test func giveTheFieldsOfTheirRoot() throws {
        for archive in [KeyedArchiveTests.binary, try KeyedArchiveTests.xml()] {
            let values = try #require(try values(archive))
            #expect(values["id"] == .string("id-7") && values["username"] == .string("ada"))
            #expect(values["token"] == .string("canary-token"))
            #expect(values["age"] == .integer(42) && values["isPro"] == .boolean(true))
            #expect(values["since"] == .date(Date(timeIntervalSinceReferenceDate: 700_000_000.5)))
            #expect(values["tags"] == .array([.string("id-7"), .string("id-7")]))
            #expect(values["home"] == .string("https://example.org"))
            #expect(values["device"] == .string("00010203-0405-0607-0809-0A0B0C0D0E0F"))
            #expect(values["extra"] == .dictionary(["id-7": .data(Data([1, 2]))]))
            #expect(values.count == 10, "a field that is nil is left out")
        }
    }

    private static let unsound = [
        ("<array/>", "<dict/>", "it has no root"),
        ("<array><string>$null</string><string>canary</string></array>", uid(1), "neither a dictionary nor an object"),
        ("<array><string>$null</string></array>", uid(7), "an object that it does not have"),
        ("<array><string>$null</string></array>", uid(-1), "an object that it does not have"),
        ("<array><string>$null</string><dict><key>canary</key>\(uid(1))</dict></array>", uid(1), "holds itself"),
        (
            "<array><string>$null</string><dict><key>$class</key>\(uid(2))</dict>"
                + "<dict><key>$classname</key><string>NSDictionary</string></dict></array>", uid(1),
            "a collection has no objects"
        ),
        (deep, uid(1), "nested too deeply"), (wide, uid(1), "too many values"),
    ]

    @Test(arguments: unsound) func areRefusedIfTheyAreNotSound(
        _ objects: String, _ root: String, _ reason: String
    ) throws {
        let top = root == "<dict/>" ? root : "<dict><key>root</key>\(root)</dict>"
        let text = """
            <plist><dict><key>$archiver</key><string>NSKeyedArchiver</string><key>$top</key>\(top)\
            <key>$objects</key>\(objects)</dict></plist>
            """
        let error = #expect(throws: VaultError.self) { try values(text.utf8) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains(reason) == true && error?.message.contains("canary") == false)
    }

    private static func uid(_ number: Int) -> String { "<dict><key>CF$UID</key><integer>\(number)</integer></dict>" }

    /// A chain of 1,000 objects, each in the one before.
    private static let deep =
        "<array><string>$null</string>"
        + (2...1_001).map { "<dict><key>a</key>\(uid($0))</dict>" }.joined() + "<string>end</string></array>"

    /// 40 objects that each hold the next one twice: a million million values.
    private static let wide =
        "<array><string>$null</string>"
        + (2...41).map { "<dict><key>a</key>\(uid($0))<key>b</key>\(uid($0))</dict>" }.joined()
        + "<string>end</string></array>"

    @Test func neverTrapWhateverTheirBytesAre() throws {
        let whole = Array(KeyedArchiveTests.binary)
        var read = 0
        for place in whole.indices {
            for mask: UInt8 in [1, 0x80, 0xff] {
                var bytes = whole
                bytes[place] ^= mask
                guard let list = try? PropertyListFormat.parseDictionary(bytes, allowsUIDs: true).values else {
                    continue
                }
                if (try? KeyedArchive.values(of: list)) != nil { read += 1 }
            }
        }
        #expect(read > 0 && read < whole.count * 3)
    }

    /// A preferences file with a UID is not one of ours.
    @Test func areNoPreferences() throws {
        #expect(throws: PropertyListError.self) { try PropertyListFormat.parse(Array(KeyedArchiveTests.binary)) }
    }
}
