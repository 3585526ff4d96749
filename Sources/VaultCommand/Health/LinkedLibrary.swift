import CVaultCommand

/// A package whose archives the executable is linked from, as the build has found it: the executable alone can bring
/// the fixes of what is in it.
struct LinkedLibrary: Equatable {
    let package, version: String
    /// The Debian source that the package is built from: those for programs that are linked dynamically are, too.
    let source, sourceVersion: String

    /// nil if the build does not say it, as a plain `swift build` does not.
    static let all: [LinkedLibrary]? = parse(String(cString: vault_linked_libraries()))

    /// Reads a line of four words for each; nil if there is none.
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
