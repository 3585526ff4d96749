import LinuxSystem

/// A file of another program in which a command changes some lines. Symbolic links to it are followed; root follows
/// only its own.
struct EditedFile {
    let path: String
    /// The contents; empty if the file does not exist.
    let contents: [UInt8]
    private let mode: UInt32

    /// - Parameter mode: the mode of a new file. An existing file keeps its mode.
    init(_ path: String, mode: UInt32 = 0o600) throws(CommandError) {
        try NewFile.checkParentFolder(of: path)
        do throws(SystemError) {
            if let found = try WholeFile(path, in: PosixFileSystem()).read(upTo: 16 << 20) {
                contents = found.bytes
                self.mode = found.status.mode
            } else {
                contents = []
                self.mode = mode
            }
        } catch { throw .system("\(path) could not be read", error.number) }
        self.path = path
    }

    /// Replaces the contents, unless they are equal. Creates the file's folder if it does not exist.
    ///
    /// - Returns: whether the contents changed.
    func write(_ bytes: [UInt8]) throws(CommandError) -> Bool {
        guard bytes != contents else { return false }
        do throws(SystemError) { try PosixFileSystem().makeFolders(resolvedPath(path).parentFolder) } catch {
            throw .system("The folder of \(path) could not be created", error.number)
        }
        try NewFile.write(bytes, to: path, mode: mode, replacing: true)
        return true
    }
}
