import PropertyList
import Testing

@Suite("XML structure")
struct XMLStructureTests {
    @Test(arguments: [
        "", "  ", "x", "<true/><false/>", "<plist><true/></plist>", "<dict><true/></dict>", "<dict><key>a</key></dict>",
        "<dict><key>a</key><key>b</key><true/></dict>", "<dict><key>a</key><true/><true/></dict>", "<key>a</key>",
        "<array><key>a</key></array>", "<dict><key>a</key><true/><key>a</key><false/></dict>",
        "<dict><key>é</key><true/><key>e\u{301}</key><true/></dict>", "<array>x<true/></array>",
        "<array><true/>x</array>",
        "<dict>x</dict>", "<true/>x", "<true>x</true>", "<true> </true>", "<false><true/></false>",
        "<string><b/></string>", "<string><string>a</string></string>", "<null/>", "<set/>", "<Dict/>", "<array>",
        "<array></dict>", "<string>&nbsp;</string>", "<string>&#1;</string>", "<string>\u{1}</string>", "<string>a",
        "<dict><key><true/></key></dict>", "<x:dict/>",
    ])
    func whatIsNoPropertyListIsRefused(content: String) {
        #expect(refusal(inside: content) == .malformed)
    }

    @Test(arguments: [
        "", " ", "<plist/>", "<plist></plist>", "{a = 1;}", "[1]", "<true/><true/>", "<true/>x", "\0", "bplist",
    ])
    func aFileThatIsNoPropertyListIsRefused(file: String) {
        let refused = code { () throws(PropertyListError) in _ = try read(file) }
        #expect(refused == .malformed || (file == "bplist" && refused == .unsupported))
    }

    @Test func commentsInstructionsAndABareValueAreRead() throws {
        let file = "<?xml version='1.0'?><!-- a --><?b c?><dict><!-- d --><key>e</key><?f g?><true/></dict><!-- h -->"
        #expect(try read(file) == .dictionary(["e": .boolean(true)]))
    }

    @Test func aDictionaryAndAnArrayKeepWhatTheyHold() throws {
        let tree = try read(inside: "<dict><key/><array/><key>a</key><array><dict/><true/><false/></array></dict>")
        let inner: [StoredValue] = [.dictionary([:]), .boolean(true), .boolean(false)]
        #expect(tree == .dictionary(["": .array([]), "a": .array(inner)]))
    }

    @Test func anAttributeThatWouldNotBeKeptIsRefused() {
        #expect(refusal(inside: "<string a=\"b\">c</string>") == .unsupported)
        #expect(code { () throws(PropertyListError) in _ = try read("<plist a=\"b\"><true/></plist>") } == .unsupported)
    }

    @Test func anErrorNamesTheLineAndNoValue() {
        #expect {
            _ = try read(inside: "\n<array>\n<integer>hidden</integer></array>")
        } throws: {
            guard let error = $0 as? PropertyListError else { return false }
            return error.sentence.hasSuffix("(line 3)") && !error.sentence.contains("hidden")
        }
    }
}
