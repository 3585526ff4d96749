import Foundation

/// A file's bytes.
package func contents(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path)))
}

/// What a file of the kernel's says, such as those of /proc.
///
/// A read gives a few lines of it, and what reads a file by its path takes a short read for the end of the file.
package func kernelText(_ path: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
}

extension [UInt8] {
    /// Returns whether other bytes are among these. The standard library's `contains` takes several times as long: it
    /// is not specialized in a build of tests.
    package func holds(_ part: some Sequence<UInt8>) -> Bool { Data(self).range(of: Data(part)) != nil }
}

/// Writes a file in place, so that whoever has it open sees the change; a new one has mode 0600.
package func overwrite(_ path: String, _ bytes: some Sequence<UInt8>) throws {
    if !FileManager.default.fileExists(atPath: path) {
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
    }
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(bytes))
    try file.close()
}

/// Puts a file of mode 0600 in a file's place, as restoring a backup does.
package func replace(_ path: String, with bytes: some Sequence<UInt8>) throws {
    try overwrite(path + ".restored", bytes)
    guard rename(path + ".restored", path) == 0 else { throw CocoaError(.fileWriteUnknown) }
}

package func setMode(_ path: String, _ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}
