import LinuxSystem

/// Compares the libraries in the executable with this machine's packages. If the distribution fixes a library after the
/// build, only a new build includes the fix.
enum LibraryCheck {
    private static let database = "/var/lib/dpkg/status"
    private static let sizeLimit: UInt64 = 256 << 20

    /// The result of the comparison; nil if the build did not record its libraries or there is no dpkg database.
    static var check: HealthCheck? {
        guard let libraries = LinkedLibrary.all,
            let contents = try? WholeFile(database, in: PosixFileSystem()).read(upTo: sizeLimit)
        else { return nil }
        return check(libraries, installed: contents.bytes)
    }

    /// - Parameter installed: the contents of dpkg's database.
    static func check(_ libraries: [LinkedLibrary], installed: [UInt8]) -> HealthCheck {
        let newest = newestVersions(of: Set(libraries.map(\.source)), in: installed)
        var older: [String: String] = [:]
        for library in libraries {
            guard let here = newest[library.source], DebianVersion(library.sourceVersion) < here else { continue }
            older[library.source] = "\(library.source) \(library.sourceVersion) (here \(here.text))"
        }
        guard !older.isEmpty else { return .ok("libraries", "no built-in library is older than this machine's") }
        let list = older.values.sorted().joined(separator: ", ")
        return .warning(
            "libraries", "This executable contains older libraries than this machine, without their fixes: \(list).",
            fix: "Install a newer release, or rebuild this one with Tools/install.")
    }

    private static func newestVersions(of sources: Set<String>, in list: [UInt8]) -> [String: DebianVersion] {
        var newest: [String: DebianVersion] = [:]
        var fields: [String: String] = [:]
        func endPackage() {
            defer { fields = [:] }
            guard let package = fields["Package"], let version = fields["Version"],
                fields["Status"]?.hasSuffix(" installed") == true
            else { return }
            // If the source package's version differs, it follows the name, as in `Source: gcc-12 (12.2.0-14)`.
            let words = (fields["Source"] ?? package).split(separator: " ").map(String.init)
            guard let source = words.first, sources.contains(source) else { return }
            let own = words.count > 1 ? String(words[1].dropFirst().dropLast()) : version
            newest[source] = max(newest[source] ?? DebianVersion(own), DebianVersion(own))
        }
        for line in list.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.isEmpty {
                endPackage()
            } else if let colon = line.firstIndex(of: UInt8(ascii: ":")), isWanted(line[..<colon]) {
                let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
                fields[String(decoding: line[..<colon], as: UTF8.self)] = String(decoding: value, as: UTF8.self)
            }
        }
        endPackage()
        return newest
    }

    private static let wanted = ["Package", "Status", "Source", "Version"].map { Array($0.utf8)[...] }

    private static func isWanted(_ name: ArraySlice<UInt8>) -> Bool { wanted.contains(name) }
}
