import Vault

/// A name and all names below it, as selected with `-r` or by a name that ends with a slash.
///
/// `web/` covers all names that begin with it. `web` covers itself, its fields (`web.otp`) and its folder (`web/mia`).
struct Subtree {
    let root: String

    var isFolder: Bool { root.hasSlashAtEnd }

    /// Returns whether the subtree covers `name`. Compares bytes, because two spellings of é are equal as strings.
    func contains(_ name: String) -> Bool {
        let name = name.utf8
        let root = root.utf8
        guard name.starts(with: root) else { return false }
        guard !isFolder, let next = name.dropFirst(root.count).first else { return true }
        return next == UInt8(ascii: "/") || next == UInt8(ascii: ".")
    }

    /// Returns the vault's names that the subtree covers, sorted bytewise.
    func names(in keychain: Keychain) throws -> [String] {
        var listing = try keychain.names(prefix: root)
        var names: [String] = []
        while let name = try listing.next() { if contains(name) { names.append(name) } }
        return names
    }

    /// Returns the new name of an entry in the subtree after ``root`` is renamed to `newRoot`.
    func renamed(_ name: String, to newRoot: String) -> String {
        newRoot + String(decoding: name.utf8.dropFirst(root.utf8.count), as: UTF8.self)
    }
}
