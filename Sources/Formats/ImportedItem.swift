package import FoundationEssentials

/// An item from another program, with one title: a login, a note, a card. Its texts are in ordinary memory, since the
/// parsers need strings. They are short-lived, and exist only in the process that imports them.
package struct ImportedItem: Hashable, Sendable {
    /// A part of an item for which there is no property.
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

    /// The path of the folder that contains the item, with slashes between folders; empty if there is none.
    package var folder = ""
    package var title: String
    package var password: String?
    package var username: String?
    package var urls: [String] = []
    package var notes: String?
    /// The source of one-time codes: an `otpauth://` address, or the secret in base32.
    package var otp: String?
    package var details: [Detail] = []
    /// The time at which the password expires.
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
    /// Each part that was left out, in the order of the file.
    package var leftOut: [LeftOut] = []

    package init(_ items: [ImportedItem] = []) { self.items = items }
}

package enum LeftOut: CaseIterable, Sendable {
    /// Parts that no entry can represent.
    case attachment, passkey, macro
    /// Parts that were in the recycle bin, or have expired.
    case deletedItem, expiredEntry
    /// The name of a server whose password is stored by a helper.
    case helpedServer
}

extension ImportedItem {
    mutating func add(_ name: String, _ value: String?, isSecret: Bool = false) {
        guard let value, !value.isEmpty else { return }
        details.append(Detail(name, value, isSecret: isSecret))
    }
}
