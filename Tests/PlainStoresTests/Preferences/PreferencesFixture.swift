import Foundation
import LinuxSystem
import TestSupport
import Testing

@testable import PlainStores

/// A property list in a folder of its own; it does not exist yet.
struct PreferencesFixture {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("suite.plist")
    }

    func open(in files: any FileSystem = PosixFileSystem(), _ interval: Duration? = nil) -> Preferences {
        Preferences(.success(path), interval, FailureLog { _, _ in }, in: files)
    }

    /// Returns the file as another tool reads it.
    func foreignRead() throws -> [String: Any] {
        let list = try PropertyListSerialization.propertyList(from: Data(contents(path)), format: nil)
        return try #require(list as? [String: Any])
    }

    /// Writes a property list with this inside its root dictionary.
    func write(xml: String) throws {
        try overwrite(
            path,
            #"<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>\#(xml)</dict></plist>"#.utf8)
    }
}
