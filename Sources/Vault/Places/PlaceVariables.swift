private import Glibc

/// The environment's variables that say where things are. An empty one counts as not set.
struct PlaceVariables {
    private let given: [String: String]?

    init(_ given: [String: String]? = nil) {
        self.given = given
    }

    subscript(name: String) -> String? {
        let value = given.map { $0[name] } ?? getenv(name).map { String(cString: $0) }
        return value.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A folder of the XDG Base Directory Specification, which has relative paths ignored.
    func folder(_ name: String, _ belowHome: String) -> String? {
        if let path = self[name], path.hasPrefix("/") { return path }
        return home.map { "\($0)/\(belowHome)" }
    }

    private var home: String? {
        if let path = self["HOME"], path.hasPrefix("/") { return path == "/" ? "" : path }
        // Asking the account database needs shared libraries that a static program lacks, and files that a
        // minimal container lacks: without HOME the places have to be named.
        return nil
    }
}
