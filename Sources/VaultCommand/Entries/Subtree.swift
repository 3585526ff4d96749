import Vault

/// What `-r` and a slash at the end stand for: a name with all that is below it.
///
/// Of `web/` that is every name that begins so. Of a name without a slash at its end it is the name itself, its fields
/// (`web.otp`) and what is in the folder of that name (`web/mia`).
struct Subtree {
    let root: String

    var isFolder: Bool { root.hasSlashAtEnd }

    /// Whether a name is part of it, compared bytewise: as strings, two spellings of an accented letter are equal.
    func contains(_ name: String) -> Bool {
        let (name, root) = (name.utf8, root.utf8)
        guard name.starts(with: root) else { return false }
        guard !isFolder, let next = name.dropFirst(root.count).first else { return true }
        return next == UInt8(ascii: "/") || next == UInt8(ascii: ".")
    }

    /// Returns its names, sorted bytewise; none if there are none.
    func names(in keychain: Keychain) throws -> [String] {
        var listing = try keychain.names(prefix: root)
        var names: [String] = []
        while let name = try listing.next() {
            if contains(name) { names.append(name) }
        }
        return names
    }

    /// Returns what one of its names is called when the root is called otherwise.
    func renamed(_ name: String, to newRoot: String) -> String {
        newRoot + String(decoding: name.utf8.dropFirst(root.utf8.count), as: UTF8.self)
    }
}
