import CVaultCommand

struct HealthCheck {
    enum State: String { case ok, warning, problem }

    let name: String
    let state: State
    let message: String
    /// The action that the user should take; nil if none is needed, or if the message already contains it.
    let fix: String?

    static func ok(_ name: String, _ message: String) -> HealthCheck {
        HealthCheck(name: name, state: .ok, message: message, fix: nil)
    }

    static func warning(_ name: String, _ message: String, fix: String? = nil) -> HealthCheck {
        HealthCheck(name: name, state: .warning, message: message, fix: fix)
    }

    static func problem(_ name: String, _ error: any Error, _ advised: AdvisedCommand) -> HealthCheck {
        HealthCheck(name: name, state: .problem, message: CommandError(error, advising: advised).message, fix: nil)
    }

    var line: String { "\(TextLayout.padded(state.rawValue, to: 9))\(name): \(message)\(fix.map { " \($0)" } ?? "")\n" }
    var report: JSONObject { ["name": name, "state": state.rawValue, "message": message, "fix": fix] }
}

/// A package that is statically linked into the executable, as recorded by the build. If the package receives a fix,
/// the executable must be rebuilt.
struct LinkedLibrary: Equatable {
    let package, version: String
    /// The Debian source package from which this package is built, and its version.
    let source, sourceVersion: String

    /// The linked packages, or nil if the build did not record them. A plain `swift build` records none.
    static let all: [LinkedLibrary]? = parse(String(cString: vault_linked_libraries()))

    /// Parses a table with four words per line. Returns nil if the table is empty.
    static func parse(_ table: String) -> [LinkedLibrary]? {
        let libraries = table.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line -> LinkedLibrary? in
            let words = line.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
            guard words.count == 4 else { return nil }
            return LinkedLibrary(package: words[0], version: words[1], source: words[2], sourceVersion: words[3])
        }
        return libraries.isEmpty ? nil : libraries
    }

    var report: JSONObject {
        ["package": package, "version": version, "source": source, "source_version": sourceVersion]
    }
}
