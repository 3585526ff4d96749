/// The format of `~/.netrc`, which contains logins for curl, ftp and other programs.
///
/// White space separates words. As in curl, a word in double quotation marks may contain white space, `\"` and `\\`. A
/// `#` instead of a keyword begins a comment.
package enum Netrc {
    package static func items(in text: [UInt8]) throws(FormatError) -> ImportedItems {
        var reader = NetrcReader(rest: text[...])
        return try reader.readAll()
    }
}

private struct NetrcReader {
    var rest: ArraySlice<UInt8>
    private var line = 1
    private var found = ImportedItems()

    init(rest: ArraySlice<UInt8>) { self.rest = rest }

    mutating func readAll() throws(FormatError) -> ImportedItems {
        while let first = nextByte() {
            if first == UInt8(ascii: "#") {
                dropLine()
                continue
            }
            let keyword = try readWord()
            switch keyword {
            case "machine": found.items.append(item(for: try readValue()))
            case "default": found.items.append(item(for: nil))
            case "login", "user": try change { $0.username = $1 }
            case "password", "passwd": try change { $0.password = $1 }
            case "account": try change { $0.add("account", $1) }
            case "macdef":
                dropMacro()
                found.leftOut.append(.macro)
            default: throw FormatError(line: line, "an unknown keyword")
            }
        }
        for index in found.items.indices { found.items[index].title = found.items[index].username ?? "default" }
        return found
    }

    private func item(for machine: String?) -> ImportedItem {
        var item = ImportedItem(title: "", line: line)
        item.folder = "netrc"
        if let machine {
            // git reads `~/.netrc` through curl, so the item belongs in the folder of git's logins.
            item.folder = "git/\(machine)"
            item.add("protocol", "https")
            item.add("host", machine)
        }
        return item
    }

    private mutating func change(_ body: (inout ImportedItem, String) -> Void) throws(FormatError) {
        let last = found.items.count - 1
        guard last >= 0 else { throw FormatError(line: line, "a keyword comes before the first machine") }
        body(&found.items[last], try readValue())
    }

    private mutating func readValue() throws(FormatError) -> String {
        guard nextByte() != nil else { throw FormatError(line: line, "the value of the last keyword is missing") }
        return try readWord()
    }

    /// Skips white space, and returns the next byte without consuming it.
    private mutating func nextByte() -> UInt8? {
        while let byte = rest.first, byte.isWhiteSpace {
            if byte == UInt8(ascii: "\n") { line += 1 }
            rest = rest.dropFirst()
        }
        return rest.first
    }

    private mutating func readWord() throws(FormatError) -> String {
        let bytes: [UInt8]
        if rest.first == UInt8(ascii: "\"") {
            bytes = try readQuoted()
        } else {
            let word = rest.prefix { !$0.isWhiteSpace }
            rest = rest[word.endIndex...]
            bytes = Array(word)
        }
        guard let word = String(validating: bytes, as: UTF8.self) else {
            throw FormatError(line: line, "it is not UTF-8")
        }
        return word
    }

    private mutating func readQuoted() throws(FormatError) -> [UInt8] {
        var word: [UInt8] = []
        rest = rest.dropFirst()
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\n") {
            if byte == UInt8(ascii: "\"") { return word }
            if byte == UInt8(ascii: "\\"), let next = rest.popFirst() { word.append(next) } else { word.append(byte) }
        }
        throw FormatError(line: line, "the closing quotation mark is missing")
    }

    /// Skips a macro, which extends to the next blank line.
    private mutating func dropMacro() { while !rest.isEmpty, !rest.starts(with: "\n\n".utf8) { dropByte() } }
    private mutating func dropLine() { while let byte = rest.first, byte != UInt8(ascii: "\n") { dropByte() } }
    private mutating func dropByte() { if rest.popFirst() == UInt8(ascii: "\n") { line += 1 } }
}

extension UInt8 { fileprivate var isWhiteSpace: Bool { " \t\r\n".utf8.contains(self) } }
