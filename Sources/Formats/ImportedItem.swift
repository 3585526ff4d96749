package import FoundationEssentials

/// What another program keeps under one title: a login, a note, a card. Its texts are in ordinary memory, since the
/// parsers need them as such: they are short-lived, and only the process that imports them has them.
package struct ImportedItem: Hashable, Sendable {
    /// A part that has no member of its own.
    package struct Detail: Hashable, Sendable {
        package let name: String
        package let value: String
        package let isSecret: Bool

        package init(_ name: String, _ value: String, isSecret: Bool) {
            (self.name, self.value, self.isSecret) = (name, value, isSecret)
        }
    }

    /// The folder that it is in, with slashes between folders; empty for none.
    package var folder = ""
    package var title: String
    package var password: String?
    package var username: String?
    package var urls: [String] = []
    package var notes: String?
    /// What one-time codes are computed from: an `otpauth://` address, or the secret in base32.
    package var otp: String?
    package var details: [Detail] = []
    /// From when on the password is not valid any more.
    package var expires: Date?
    /// Where it begins in the file; nil if the format has no lines.
    package var line: Int?

    package init(title: String, line: Int? = nil) { (self.title, self.line) = (title, line) }
}

/// What was read of another program's file.
package struct ImportedItems: Hashable, Sendable {
    package var items: [ImportedItem] = []
    /// Each part that was left out, in the order of the file.
    package var leftOut: [LeftOut] = []

    package init(_ items: [ImportedItem] = []) { self.items = items }
}

/// A part that an import leaves out.
package enum LeftOut: CaseIterable, Sendable {
    /// What no entry can hold.
    case attachment, passkey, macro
    /// What was in the recycle bin, or has expired.
    case deletedItem, expiredEntry
    /// The name of a server whose password a helper has.
    case helpedServer
}

extension ImportedItem {
    /// Adds a detail, unless it is empty.
    mutating func add(_ name: String, _ value: String?, isSecret: Bool = false) {
        guard let value, !value.isEmpty else { return }
        details.append(Detail(name, value, isSecret: isSecret))
    }
}
