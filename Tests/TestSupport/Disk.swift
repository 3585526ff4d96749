import LinuxSystem

/// A disk with files and folders: the state that the system shows while there is power, and the states that are
/// possible after a power loss. Each file keeps what was flushed, and any part of the later writes. Each folder keeps
/// what was flushed, and the first of the later changes of its names, as on a journalling file system.
///
/// A flush that fails leaves the disk in the same states as a power loss, but the file's pages clean, so that a later
/// flush does not write them. As on Linux, the failure is reported once to each open file.
package struct Disk: Sendable {
    /// The target of a name: the number of a file, which no later file gets, or a folder.
    package enum Node: Hashable, Sendable {
        case file(Int)
        case folder
    }

    private enum NameChange {
        case set(String, Node)
        case removed(String)
    }

    package private(set) var files: [Int: File] = [:]
    /// The names that the system shows, by path.
    package private(set) var names: [String: Node]
    private var durableNames: [String: Node]
    private var pendingNames: [String: [NameChange]] = [:]
    private var lastFile = 0

    /// - Parameter root: the path of a folder that always exists.
    package init(root: String) {
        names = [root: .folder]
        durableNames = names
    }

    /// Adds a file that is already on the disk, and its folders.
    @discardableResult
    package mutating func add(_ path: String, _ bytes: [UInt8]) -> Int {
        addFolder(path.parentFolder)
        lastFile += 1
        files[lastFile] = File(bytes)
        names[path] = .file(lastFile)
        durableNames[path] = .file(lastFile)
        return lastFile
    }

    package mutating func addFolder(_ path: String) {
        guard names[path] == nil else { return }
        addFolder(path.parentFolder)
        names[path] = .folder
        durableNames[path] = .folder
    }

    // MARK: Calls

    /// Creates an empty file, and returns its number.
    package mutating func create(_ path: String) -> Int {
        lastFile += 1
        files[lastFile] = File([])
        change(.set(path, .file(lastFile)), in: path.parentFolder)
        return lastFile
    }

    /// Creates a folder, unless it exists.
    package mutating func makeFolder(_ path: String) {
        if names[path] == nil { change(.set(path, .folder), in: path.parentFolder) }
    }

    package mutating func rename(_ path: String, to newPath: String) {
        guard let node = names[path] else { return }
        change(.set(newPath, node), in: newPath.parentFolder)
        change(.removed(path), in: path.parentFolder)
    }

    package mutating func remove(_ path: String) { change(.removed(path), in: path.parentFolder) }

    private mutating func change(_ change: NameChange, in folder: String) {
        Disk.apply(change, to: &names)
        pendingNames[folder, default: []].append(change)
    }

    package mutating func write(_ file: Int, _ bytes: [UInt8], at offset: Int) {
        files[file]?.write(bytes, at: offset)
    }

    /// Replaces all bytes of a file durably. This simulates a program other than the tested one.
    package mutating func overwrite(_ file: Int, _ bytes: [UInt8]) { files[file] = File(bytes) }

    package mutating func flush(_ file: Int) { files[file]?.flush() }

    /// Simulates a flush that fails, as on Linux: the data to flush counts as clean, and any part of it is on the disk.
    package mutating func failFlush(_ file: Int, _ generator: inout SeededGenerator) {
        files[file]?.failFlush(&generator)
    }

    /// Returns the number of a file's failures that were reported to a program. A program that opens the file starts
    /// with this number.
    package func reportedFailures(of file: Int) -> Int { files[file]?.reportedFailures ?? 0 }

    /// Returns whether a flush of a file reports a failure to an open file that has received `known` of them.
    package mutating func reportFailure(of file: Int, to known: inout Int) -> Bool {
        files[file]?.reportFailure(to: &known) ?? false
    }

    /// Prevents later flushes from reporting earlier failures.
    package mutating func forgetFailures() { for file in files.keys { files[file]?.forgetFailures() } }

    package mutating func flushFolder(_ path: String) {
        for change in pendingNames.removeValue(forKey: path) ?? [] { Disk.apply(change, to: &durableNames) }
    }

    /// Simulates a flush of a folder that fails: the first of the changes of its names are on the disk, the others stay
    /// pending.
    package mutating func failFolderFlush(_ path: String, _ generator: inout SeededGenerator) {
        guard let changes = pendingNames[path] else { return }
        let count = Bool.random(using: &generator) ? 0 : Int.random(in: 0...changes.count, using: &generator)
        for change in changes.prefix(count) { Disk.apply(change, to: &durableNames) }
        pendingNames[path] = Array(changes.dropFirst(count))
    }

    /// Returns whether names in a folder were changed since it was flushed.
    package func hasPendingNames(in folder: String) -> Bool { pendingNames[folder]?.isEmpty == false }

    private static func apply(_ change: NameChange, to names: inout [String: Node]) {
        switch change {
        case .set(let path, let node): names[path] = node
        case .removed(let path): names[path] = nil
        }
    }

    // MARK: Power loss

    /// Returns a possible state of the disk when power returns.
    package func afterPowerLoss(_ generator: inout SeededGenerator) -> Disk {
        var kept = durableNames
        for folder in pendingNames.keys.sorted() {
            let changes = pendingNames[folder] ?? []
            for change in changes.prefix(Int.random(in: 0...changes.count, using: &generator)) {
                Disk.apply(change, to: &kept)
            }
        }
        var result = self
        result.names = kept
        result.durableNames = kept
        result.pendingNames = [:]
        result.files = [:]
        for path in kept.keys.sorted() {
            guard isReachable(path, in: kept) else {
                result.names[path] = nil
                result.durableNames[path] = nil
                continue
            }
            guard case .file(let number) = kept[path], result.files[number] == nil else { continue }
            let bytes = files[number]?.afterPowerLoss(&generator) ?? []
            result.files[number] = File(bytes)
        }
        return result
    }

    /// Returns whether all folders on the path exist.
    private func isReachable(_ path: String, in kept: [String: Node]) -> Bool {
        var path = path
        while kept[path] != nil {
            // Only the root has no parent on the disk.
            if names[path.parentFolder] == nil || path.parentFolder == path { return true }
            path = path.parentFolder
        }
        return false
    }

    /// Returns the bytes of a file as the system shows them; nil if there is no file.
    package func contents(_ path: String) -> [UInt8]? {
        guard case .file(let number) = names[path] else { return nil }
        return files[number]?.written
    }
}
