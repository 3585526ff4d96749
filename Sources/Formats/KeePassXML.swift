import PropertyList

/// The plain XML format of KeePass 2, as exported by KeePass and KeePassXC.
///
/// Groups become folders, except for the root group. Earlier versions of entries and entries in the recycle bin are
/// left out. In KeePass, an entry's expiry is only a reminder. Here it becomes an attribute, because a vault treats an
/// expired entry as absent.
package enum KeePassXML {
    package static func items(in text: [UInt8]) throws(FormatError) -> ImportedItems {
        let events = KeePassEvents()
        do throws(PropertyListError) { try XMLReader(events).read(text) } catch { throw FormatError(error.sentence) }
        guard events.hasRoot else { throw FormatError("it is not KeePass XML: the element KeePassFile is missing") }
        return events.found
    }
}

private final class KeePassEvents: XMLEvents {
    private struct Group {
        var name = ""
        var isBin = false
    }

    private(set) var found = ImportedItems()
    private(set) var hasRoot = false
    private var open: [String] = []
    private var text: [UInt8] = []
    private var groups: [Group] = []
    private var entry: ImportedItem?
    private var recycleBin: String?
    // The field that is being parsed, from a String element of the entry.
    private var key = ""
    private var value = ""
    private var isSecret = false
    // The expiry of the entry that is being parsed, from its Times element.
    private var expires = false
    private var expiry = ""

    func start(_ element: String, attributes: [String: String]) throws(PropertyListError) {
        if open.isEmpty { hasRoot = element == "KeePassFile" }
        guard open.count < 512 else { throw .tooDeep }
        switch element {
        case "Group": groups.append(Group())
        case "Entry" where open.last == "Group":
            entry = ImportedItem(title: "")
            expires = false
            expiry = ""
        case "String":
            key = ""
            value = ""
            isSecret = false
        case "Value" where open.last == "String":
            // A value with this attribute is still encrypted with the database's inner cipher, so it cannot be read.
            guard attributes["Protected"] != "True" else {
                throw .malformed("a value is encrypted; export the database as plain XML")
            }
            isSecret = attributes["ProtectInMemory"] == "True"
        default: break
        }
        open.append(element)
        text = []
    }

    func text(_ characters: [UInt8]) { text += characters }

    func end() throws(PropertyListError) {
        let element = open.popLast() ?? ""
        let content = String(decoding: text, as: UTF8.self)
        text = []
        // The History element contains an entry's earlier versions, which are not imported.
        if open.contains("History") { return }
        switch (open.last ?? "", element) {
        case ("Meta", "RecycleBinUUID"): recycleBin = content
        case ("Group", "UUID"): changeGroup { $0.isBin = content == recycleBin }
        case ("Group", "Name"): changeGroup { $0.name = content }
        case ("String", "Key"): key = content
        case ("String", "Value"): value = content
        case ("Entry", "String"): takeString()
        case ("Entry", "Binary"): found.leftOut.append(.attachment)
        case ("Entry", "Tags"): entry?.add("tags", content)
        case ("Times", "Expires"): expires = content == "True"
        case ("Times", "ExpiryTime"): expiry = content
        case (_, "Entry"): takeEntry()
        case (_, "Group"): _ = groups.popLast()
        default: break
        }
    }

    private func changeGroup(_ body: (inout Group) -> Void) { if !groups.isEmpty { body(&groups[groups.count - 1]) } }

    private func takeString() {
        guard !value.isEmpty else { return }
        switch key {
        case "Title": entry?.title = value
        case "UserName": entry?.username = value
        case "Password": entry?.password = value
        case "URL": entry?.urls.insert(value, at: 0)
        case "Notes": entry?.notes = value
        case "otp": entry?.otp = value
        // KeePassXC stores further addresses in KP2A_URL, KP2A_URL_1 and so on.
        case _ where key.hasPrefix("KP2A_URL"): entry?.urls.append(value)
        default: entry?.add(key, value, isSecret: isSecret || key.hasPrefix("TimeOtp-Secret"))
        }
    }

    private func takeEntry() {
        guard var item = entry.take() else { return }
        guard !groups.contains(where: \.isBin) else {
            found.leftOut.append(.deletedItem)
            return
        }
        item.folder = groups.dropFirst().map(\.name).joined(separator: "/")
        // Only an expiry time in text form is imported. Exports in KeePass's format 4 may contain it in binary form.
        if expires, expiry.contains("T"), expiry.hasSuffix("Z") { item.add("expires", expiry) }
        found.items.append(item)
    }
}
