private import Glibc

/// The environment's variables that say where things are. An empty one counts as not set.
struct PlaceVariables {
    private let given: [String: String]?

    init(_ given: [String: String]? = nil) {
        self.given = given
    }

    /// - Throws: ``VaultError/Code/invalid`` for a value that is not UTF-8: a repaired path would lead to another file.
    subscript(name: String) -> String? {
        get throws(VaultError) {
            let value = given != nil ? given?[name] : try present(name)
            return value?.isEmpty == false ? value : nil
        }
    }

    private func present(_ name: String) throws(VaultError) -> String? {
        guard let bytes = getenv(name) else { return nil }
        guard let text = String(validatingCString: bytes) else {
            throw VaultError(.invalid, "The environment variable \(name) is not UTF-8. Set it to a path that is.")
        }
        return text
    }

    /// A folder of the XDG Base Directory Specification, which has relative paths ignored.
    func folder(_ name: String, _ belowHome: String) throws(VaultError) -> String? {
        if let path = try self[name], path.hasPrefix("/") { return path }
        return try home.map { "\($0)/\(belowHome)" }
    }

    private var home: String? {
        get throws(VaultError) {
            if let path = try self["HOME"], path.hasPrefix("/") { return path == "/" ? "" : path }
            // Asking the account database needs shared libraries that a static program lacks, and files that a
            // minimal container lacks: without HOME the places have to be named.
            return nil
        }
    }
}
