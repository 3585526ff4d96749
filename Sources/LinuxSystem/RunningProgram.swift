private import Glibc

/// Returns the path of a process's executable, or its name if the path is not readable; nil if /proc shows neither.
package func program(ofProcess process: Int32) -> String? {
    if let path = target(ofLink: "/proc/\(process)/exe") { return path }
    // Reading 64 bytes is enough, because the kernel limits a process's name to 16 bytes.
    return text(ofProcess: process, "comm", upTo: 64).flatMap { lines(of: $0).first }
}

/// Returns whether a process handles or ignores a signal; nil if /proc does not contain this information.
package func handlesOrIgnores(_ signal: Int32, process: Int32) -> Bool? {
    guard let status = text(ofProcess: process, "status", upTo: 8_192) else { return nil }
    let sets = lines(of: status).filter { $0.hasPrefix("SigIgn:") || $0.hasPrefix("SigCgt:") }
        .compactMap { line in line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } }
    guard sets.count == 2 else { return nil }
    return sets.contains { $0 >> UInt64(signal - 1) & 1 == 1 }
}

/// Returns the lines of a string. Splits it bytewise, because Swift treats CR LF as one character.
private func lines(of text: String) -> [String] {
    text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { String(Substring($0)) }
}

private func text(ofProcess process: Int32, _ name: String, upTo size: Int) -> String? {
    let files = PosixFileSystem()
    guard let file = try? files.open("/proc/\(process)/\(name)", .read), let bytes = try? files.read(file, upTo: size)
    else { return nil }
    return String(decoding: bytes, as: UTF8.self)
}
