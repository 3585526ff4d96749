import FoundationEssentials
import PropertyList
import TestSupport
import Testing

@Suite("XML documents")
struct XMLDocumentTests {
    private static let apple =
        "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">"

    @Test func aDocumentTypeIsAcceptedAndNothingFetched() throws {
        #expect(try read(Self.apple + "<plist><true/></plist>") == .boolean(true))
        #expect(try read("<!DOCTYPE plist SYSTEM \"file:///nowhere\"><plist><true/></plist>") == .boolean(true))
    }

    @Test(arguments: [
        "<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">", "<!ENTITY a SYSTEM \"file:///etc/hostname\">",
        "<!ENTITY % a SYSTEM \"file:///etc/hostname\">%a;", "<!ATTLIST string a CDATA \"b\">", "",
    ])
    func aDocumentTypeWithDeclarationsIsRefused(subset: String) {
        let file = "<!DOCTYPE plist [\(subset)]><plist><string>x</string></plist>"
        #expect(code { () throws(PropertyListError) in _ = try read(file) } == .unsupported)
    }

    @Test func anUnknownEntityIsRefusedRatherThanLeftOut() {
        let file = Self.apple + "<plist><string>a&nbsp;b</string></plist>"
        #expect(code { () throws(PropertyListError) in _ = try read(file) } == .malformed)
    }

    @Test func theEncodingsThatExpatKnowsAreRead() throws {
        let content = "<plist><string>é🔑</string></plist>"
        #expect(try read("\u{FEFF}" + content) == .string("é🔑"))
        let wide = ("\u{FEFF}" + content).utf16
        #expect(try StoredValue(parsing: wide.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xff)] }) == .string("é🔑"))
        #expect(try StoredValue(parsing: wide.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }) == .string("é🔑"))
        let latin = Array("<?xml version='1.0' encoding='ISO-8859-1'?><string>".utf8) + [0xe9] + Array("</string>".utf8)
        #expect(try StoredValue(parsing: latin) == .string("é"))
    }

    @Test func otherEncodingsAreRefused() {
        for name in ["windows-1252", "UTF-32", "UTF-16", "Shift_JIS"] {
            let file = "<?xml version='1.0' encoding='\(name)'?><true/>"
            #expect(code { () throws(PropertyListError) in _ = try read(file) } == .unsupported, "\(name)")
        }
        let bytes = Array("<string>".utf8) + [0xc3, 0x28] + Array("</string>".utf8)
        #expect(code { () throws(PropertyListError) in _ = try StoredValue(parsing: bytes) } == .malformed)
    }

    @Test func theSameTreeGivesTheSameBytes() throws {
        let tree = StoredValue.dictionary([
            "b": .integer(-1), "B": .array([.boolean(false)]), "é": .real(1), "z\u{10000}": .data(.init([1, 2, 3])),
            "z\u{FFFD}": .array([]),
        ])
        let expected = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            <dict>
            \t<key>B</key>
            \t<array>
            \t\t<false/>
            \t</array>
            \t<key>b</key>
            \t<integer>-1</integer>
            \t<key>z\u{FFFD}</key>
            \t<array/>
            \t<key>z\u{10000}</key>
            \t<data>
            \tAQID
            \t</data>
            \t<key>é</key>
            \t<real>1.0</real>
            </dict>
            </plist>

            """
        #expect(try text(tree) == expected)
    }

    @Test(arguments: 0..<40)
    func everyTreeIsReadBackFromBothFormats(seed: Int) throws {
        var trees = RandomTrees(seed: seed)
        for _ in 0..<50 {
            let tree = trees.tree()
            let xml = try PropertyListFormat.parse(tree.xml())
            #expect(xml.tree == tree && xml.format == .xml)
            let binary = try PropertyListFormat.parse(tree.binary())
            #expect(binary.tree == tree && binary.format == .binary)
            #expect(xml.tree.hashValue == binary.tree.hashValue)
            #expect(try binary.tree.xml() == tree.xml())
        }
    }
}
