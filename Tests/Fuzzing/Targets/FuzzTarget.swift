package import Foundation

/// One parser of outside bytes, as a fuzzer and the replay of its corpus feed it.
///
/// A target never throws: what a parser refuses is fine. It traps if a check fails, which libFuzzer reports.
package struct FuzzTarget: Sendable, CustomStringConvertible {
    package let name: String
    /// The inputs to start with, read or derived from vectors and fixtures.
    package let seeds: @Sendable () throws -> [[UInt8]]
    /// Feeds the parser; files that it needs go into the folder.
    package let feed: @Sendable (_ input: [UInt8], _ folder: String) throws -> Void

    package var description: String { name }

    package static let all: [FuzzTarget] = [
        .vault, .sealed, .key, .memory, .xml, .binary, .json, .archive, .account, .value, .age, .drop, .share,
        .configuration, .otpauth, .helpers, .ssh, .formats, .dotEnv, .template,
    ]

    package static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }

    private static let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The inputs that fuzzing has found and that were kept.
    package var corpus: URL { FuzzTarget.tests.appending(path: "Fuzzing/Corpus/\(name)") }

    /// Returns the files of a folder below `Tests` with an ending, in the order of their names.
    static func fixtures(in folder: String, ending: String) throws -> [URL] {
        try FileManager.default
            .contentsOfDirectory(at: tests.appending(path: folder), includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasSuffix(ending) }.sorted { $0.path < $1.path }
    }
}

extension URL {
    var bytes: [UInt8] { get throws { try Array(Data(contentsOf: self)) } }
}

/// Writes a file of mode 0600 in place.
func write(_ bytes: [UInt8], to path: String) throws {
    try Data(bytes).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
}

/// Traps if a check fails. Unlike a precondition's, its message is printed by optimised builds too.
func check(_ holds: Bool, _ otherwise: @autoclosure () -> String) {
    guard holds else { fatalError(otherwise()) }
}
