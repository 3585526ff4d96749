import LinuxSystem

/// A disk with files and folders: what the system shows of it while there is power, and what may be left of that after
/// power was lost. Of each file what was flushed, with any part of what was written since; of each folder what was
/// flushed, with the first of the changes of its names since, as a journalling file system keeps them.
package struct Disk: Sendable {
    /// A file's bytes, and what has been written since they were flushed, oldest first.
    package struct File: Sendable {
        /// As the system shows it while there is power.
        package fileprivate(set) var written: [UInt8]
        fileprivate var durable: [UInt8]
        fileprivate var pending: [(offset: Int, bytes: [UInt8])] = []
        /// As the system showed it before the first of them. Differs from what is durable after a failed flush.
        fileprivate var cached: [UInt8]

        fileprivate init(_ bytes: [UInt8]) { (written, durable, cached) = (bytes, bytes, bytes) }
    }

    /// What a name leads to: a file's number, which no later file gets, or a folder.
    package enum Node: Hashable, Sendable {
        case file(Int)
        case folder
    }

    private enum NameChange {
        case set(String, Node)
        case removed(String)
    }

    fileprivate static let sector = 512

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
        files[file]?.written.write(bytes, at: offset)
        files[file]?.pending.append((offset, bytes))
    }

    /// Replaces all bytes of a file, durably: what others than the tested program do to it.
    package mutating func overwrite(_ file: Int, _ bytes: [UInt8]) { files[file] = File(bytes) }

    package mutating func flush(_ file: Int) { files[file]?.flush() }

    /// A flush that failed, as Linux leaves it: what was to be flushed counts as clean, and is not on the disk.
    package mutating func failFlush(_ file: Int) { files[file]?.forgetPending() }

    package mutating func flushFolder(_ path: String) {
        for change in pendingNames.removeValue(forKey: path) ?? [] { Disk.apply(change, to: &durableNames) }
    }

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

extension Disk.File {
    /// Flushes the sectors that were written since the last flush, whether that failed or not.
    fileprivate mutating func flush() {
        if durable.count < written.count {
            durable.append(contentsOf: repeatElement(0, count: written.count - durable.count))
        }
        for sector in touchedSectors {
            let start = sector * Disk.sector
            durable.write(Array(written[start..<min(start + Disk.sector, written.count)]), at: start)
        }
        forgetPending()
    }

    fileprivate mutating func forgetPending() {
        pending = []
        cached = written
    }

    /// Each sector that was written since the last flush has one of the contents that it had since then; disks write a
    /// sector whole or not at all, and in any order.
    fileprivate func afterPowerLoss(_ generator: inout SeededGenerator) -> [UInt8] {
        guard !pending.isEmpty else { return durable }
        let share = [0.02, 0.3, 0.5, 0.7, 0.98][Int.random(in: 0..<5, using: &generator)]
        var result = durable
        var version = cached
        // How many of the writes each sector has seen.
        var seen: [Int: Int] = [:]
        for sector in touchedSectors where Double.random(in: 0..<1, using: &generator) < share {
            seen[sector] = Int.random(in: 1...pending.count, using: &generator)
        }
        for (index, write) in pending.enumerated() {
            version.write(write.bytes, at: write.offset)
            for (sector, count) in seen where count == index + 1 {
                let start = sector * Disk.sector
                // Nothing, if the file ended before the sector then.
                result.write(Array(version.dropFirst(start).prefix(Disk.sector)), at: start)
            }
        }
        // The file's length may have become durable before what lies in it.
        if result.count < version.count, Bool.random(using: &generator) { result.write([0], at: version.count - 1) }
        return result
    }

    private var touchedSectors: [Int] {
        var sectors: Set<Int> = []
        for write in pending where !write.bytes.isEmpty {
            sectors.formUnion(
                write.offset / Disk.sector...(write.offset + write.bytes.count - 1) / Disk.sector)
        }
        return sectors.sorted()
    }
}

extension [UInt8] {
    /// Writes as a file does: a gap before the place is filled with zeros.
    fileprivate mutating func write(_ bytes: [UInt8], at offset: Int) {
        guard !bytes.isEmpty else { return }
        if count < offset + bytes.count { append(contentsOf: repeatElement(0, count: offset + bytes.count - count)) }
        replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
}
