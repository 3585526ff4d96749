import LinuxSystem

/// A file of another program in which a command edits lines. Symbolic links to the file are followed, but if the user
/// is root, only links that root owns.
struct EditedFile {
    let path: String
    /// The contents; empty if the file does not exist.
    let contents: [UInt8]
    private let mode: UInt32

    /// - Parameter mode: the mode of a newly created file. An existing file keeps its mode.
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

    /// Replaces the file's contents, unless they already equal `bytes`. Creates the file's folder if it does not exist.
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

/// The lines of a file, as bytes: another program's file is not necessarily UTF-8.
struct FileLines {
    private let lines: [ArraySlice<UInt8>]

    init(_ bytes: [UInt8]) {
        let ended = bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...]
        lines = bytes.isEmpty ? [] : ended.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    }

    func contain(_ word: String) -> Bool { lines.contains { String(decoding: $0, as: UTF8.self).contains(word) } }

    /// Returns the first range of consecutive lines that equals `wanted`, or nil if there is none.
    func range(of wanted: [String]) -> Range<Int>? {
        let wanted = wanted.map { Array($0.utf8)[...] }
        let start = lines.indices.first { lines[$0...].starts(with: wanted) }
        return start.map { $0..<$0 + wanted.count }
    }

    func adding(_ new: [String]) -> [UInt8] { FileLines.joined(lines + new.map { Array($0.utf8)[...] }) }

    func removing(_ range: Range<Int>) -> [UInt8] {
        FileLines.joined(Array(lines[..<range.lowerBound] + lines[range.upperBound...]))
    }

    private static func joined(_ lines: [ArraySlice<UInt8>]) -> [UInt8] { lines.flatMap { $0 + [UInt8(ascii: "\n")] } }
}
