import LinuxSystem

/// A disk with files and folders: what the system shows of it while there is power, and what may be left of that after
/// power was lost. Of each file what was flushed, with any part of what was written since; of each folder what was
/// flushed, with the first of the changes of its names since, as a journalling file system keeps them.
///
/// A flush that fails leaves the same on the disk as a power loss, and the file's pages clean: a later flush does not
/// write them. It is reported as Linux reports it, once to each open file.
package struct Disk: Sendable {
    /// What a name leads to: a file's number, which no later file gets, or a folder.
    package enum Node: Hashable, Sendable {
        case file(Int)
        case folder
    }

    private enum NameChange {
        case set(String, Node)
        case removed(String)
    }

    package private(set) var files: [Int: File] = [:]
    /// As the system shows them, by path.
    package private(set) var names: [String: Node]
    private var durableNames: [String: Node]
    private var pendingNames: [String: [NameChange]] = [:]
    private var lastFile = 0

    /// - Parameter root: the path of a folder that is there for ever.
    package init(root: String) {
        names = [root: .folder]
        durableNames = names
    }

    /// Adds a file that is on the disk already, and its folders.
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

    /// Replaces all bytes of a file, durably: what others than the tested program do to it.
    package mutating func overwrite(_ file: Int, _ bytes: [UInt8]) { files[file] = File(bytes) }

    package mutating func flush(_ file: Int) { files[file]?.flush() }

    /// A flush that fails, as Linux leaves it: what was to be flushed counts as clean, and any part of it is on the
    /// disk.
    package mutating func failFlush(_ file: Int, _ generator: inout SeededGenerator) {
        files[file]?.failFlush(&generator)
    }

    /// The failures of a file that a program has been told about. Opening a file takes note of them.
    package func reportedFailures(of file: Int) -> Int { files[file]?.reportedFailures ?? 0 }

    /// Returns whether a flush of a file reports a failure to the opener that knows of `known` ones.
    package mutating func reportFailure(of file: Int, to known: inout Int) -> Bool {
        files[file]?.reportFailure(to: &known) ?? false
    }

    /// Has no later flush report an earlier failure.
    package mutating func forgetFailures() { for file in files.keys { files[file]?.forgetFailures() } }

    package mutating func flushFolder(_ path: String) {
        for change in pendingNames.removeValue(forKey: path) ?? [] { Disk.apply(change, to: &durableNames) }
    }

    /// A flush of a folder that fails: the first of the changes of its names are on the disk, the others stay pending.
    package mutating func failFolderFlush(_ path: String, _ generator: inout SeededGenerator) {
        guard let changes = pendingNames[path] else { return }
        let count = Bool.random(using: &generator) ? 0 : Int.random(in: 0...changes.count, using: &generator)
        for change in changes.prefix(count) { Disk.apply(change, to: &durableNames) }
        pendingNames[path] = Array(changes.dropFirst(count))
    }

    /// Whether names in a folder were changed since it was flushed.
    package func hasPendingNames(in folder: String) -> Bool { pendingNames[folder]?.isEmpty == false }

    private static func apply(_ change: NameChange, to names: inout [String: Node]) {
        switch change {
        case .set(let path, let node): names[path] = node
        case .removed(let path): names[path] = nil
        }
    }

    // MARK: Power loss

    /// Returns a disk as this one may be when power returns.
    package func afterPowerLoss(_ generator: inout SeededGenerator) -> Disk {
        var kept = durableNames
        for folder in pendingNames.keys.sorted() {
            let changes = pendingNames[folder] ?? []
            for change in changes.prefix(Int.random(in: 0...changes.count, using: &generator)) {
                Disk.apply(change, to: &kept)
            }
        }
        var result = self
        (result.names, result.durableNames, result.pendingNames, result.files) = (kept, kept, [:], [:])
        for path in kept.keys.sorted() {
            guard isReachable(path, in: kept) else {
                (result.names[path], result.durableNames[path]) = (nil, nil)
                continue
            }
            guard case .file(let number) = kept[path], result.files[number] == nil else { continue }
            let bytes = files[number]?.afterPowerLoss(&generator) ?? []
            result.files[number] = File(bytes)
        }
        return result
    }

    /// Whether all folders on the way are there.
    private func isReachable(_ path: String, in kept: [String: Node]) -> Bool {
        var path = path
        while kept[path] != nil {
            // Only the root has no parent on the disk.
            if names[path.parentFolder] == nil || path.parentFolder == path { return true }
            path = path.parentFolder
        }
        return false
    }

    /// Returns the bytes of a file, as the system shows them; nil if there is none.
    package func contents(_ path: String) -> [UInt8]? {
        guard case .file(let number) = names[path] else { return nil }
        return files[number]?.written
    }
}
