import Foundation

/// Returns the bytes of a file.
package func contents(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path)))
}

/// Returns the text of one of the kernel's files, such as those in /proc.
///
/// One read returns only a few lines, and functions that read a file by its path take a short read for the end of the
/// file.
package func kernelText(_ path: String) throws -> String {
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
}

extension [UInt8] {
    /// Returns whether these bytes contain others. The standard library's `contains` takes several times as long, since
    /// it is not specialized in a build of tests.
    package func holds(_ part: some Sequence<UInt8>) -> Bool { Data(self).range(of: Data(part)) != nil }
}

/// Writes a file in place, so that every process that has it open sees the change. A new file has mode 0600.
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

/// Replaces a file by another one of mode 0600, as a restored backup does.
package func replace(_ path: String, with bytes: some Sequence<UInt8>) throws {
    try overwrite(path + ".restored", bytes)
    guard rename(path + ".restored", path) == 0 else { throw CocoaError(.fileWriteUnknown) }
}

package func setMode(_ path: String, _ mode: Int) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}
