package import FoundationEssentials

/// An item from another program, such as a login, a note or a card. Its strings are in ordinary memory, because the
/// parsers work on strings. They are short-lived and exist only in the importing process.
package struct ImportedItem: Hashable, Sendable {
    /// A field for which ``ImportedItem`` has no property.
    package struct Detail: Hashable, Sendable {
        package let name: String
        package let value: String
        package let isSecret: Bool

        package init(_ name: String, _ value: String, isSecret: Bool) {
            self.name = name
            self.value = value
            self.isSecret = isSecret
        }
    }

    /// The path of the item's folder, with slashes between folders; empty if there is none.
    package var folder = ""
    package var title: String
    package var password: String?
    package var username: String?
    package var urls: [String] = []
    package var notes: String?
    /// The secret for one-time codes, as an `otpauth://` address or in base32.
    package var otp: String?
    package var details: [Detail] = []
    /// The password's expiry time.
    package var expires: Date?
    /// The number of the item's first line in the file; nil if the format has no lines.
    package var line: Int?

    package init(title: String, line: Int? = nil) {
        self.title = title
        self.line = line
    }
}

package struct ImportedItems: Hashable, Sendable {
    package var items: [ImportedItem] = []
    /// The parts of the file that have not been imported, in the order of the file.
    package var leftOut: [LeftOut] = []

    package init(_ items: [ImportedItem] = []) { self.items = items }
}

package enum LeftOut: CaseIterable, Sendable {
    /// Parts of an item that an entry cannot represent.
    case attachment, passkey, macro
    /// Items that were in the recycle bin or have expired.
    case deletedItem, expiredEntry
    /// A server whose password a credential helper stores, so Docker's configuration has only the server's name.
    case helpedServer
}

extension ImportedItem {
    mutating func add(_ name: String, _ value: String?, isSecret: Bool = false) {
        guard let value, !value.isEmpty else { return }
        details.append(Detail(name, value, isSecret: isSecret))
    }
}
