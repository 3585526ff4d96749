import LinuxSystem

/// A file that a command writes for a person, whole or not at all.
enum NewFile {
    /// Writes a file of mode 0600, never over another one.
    static func write(_ bytes: [UInt8], to path: String) throws(CommandError) {
        try write(bytes, to: path, mode: 0o600, replacing: false)
    }

    static func write(_ bytes: [UInt8], to path: String, mode: UInt32, replacing: Bool) throws(CommandError) {
        let (files, path) = (PosixFileSystem(), resolvedPath(path))
        do throws(SystemError) {
            try bytes.withRawBytes { (bytes) throws(SystemError) in
                let file = try WholeFile(path, in: files).replace(with: bytes, replacing: replacing)
                try files.setMode(file, mode)
            }
        } catch {
            guard !error.isExisting else { throw .refused("\(path) already exists; it was left alone.") }
            throw .system("\(path) could not be written", error.number)
        }
    }
}
