private import Glibc

/// Returns the path of a process's executable, or the process's name if the path may not be read; nil if /proc shows
/// neither.
package func program(ofProcess process: Int32) -> String? {
    if let path = target(ofLink: "/proc/\(process)/exe") { return path }
    let files = PosixFileSystem()
    // The kernel's limit is 16 bytes.
    var bytes = [UInt8](repeating: 0, count: 64)
    guard let file = try? files.open("/proc/\(process)/comm", .read),
        let count = try? bytes.withMutableRawBytes({ (bytes) throws(SystemError) in
            try files.read(file, into: bytes, at: 0)
        })
    else { return nil }
    return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}
