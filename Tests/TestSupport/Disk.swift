import LinuxSystem
import SealedLog

/// What a disk may hold after power loss: of each file what was flushed, with any part of what was written since.
struct Disk {
    /// A file's bytes and what has been written since they were flushed, oldest first.
    struct File {
        var durable: [UInt8]
        var pending: [(offset: Int, bytes: [UInt8])] = []
    }

    /// A change of a folder's names. A journalling file system makes them last in their order.
    enum NameChange {
        case set(String, FileStatus.Identity)
        case removed(String)
    }

    static let sector = 512

    private(set) var files: [FileStatus.Identity: File] = [:]
    private var names: [String: FileStatus.Identity] = [:]
    private var pendingNames: [String: [NameChange]] = [:]

    mutating func add(_ identity: FileStatus.Identity, at path: String, _ bytes: [UInt8]) {
        files[identity] = File(durable: bytes)
        names[path] = identity
    }

    func knows(_ identity: FileStatus.Identity) -> Bool { files[identity] != nil }

    /// A new, empty file; a number that a removed one had may come again.
    mutating func create(_ identity: FileStatus.Identity, at path: String) {
        files[identity] = File(durable: [])
        pendingNames[path.parentFolder, default: []].append(.set(path, identity))
    }

    mutating func write(_ identity: FileStatus.Identity, _ bytes: [UInt8], at offset: UInt64) {
        files[identity]?.pending.append((Int(offset), bytes))
    }

    mutating func flush(_ identity: FileStatus.Identity) {
        guard let file = files[identity] else { return }
        files[identity] = File(durable: file.written)
    }

    /// A flush that failed, as Linux leaves it: what was to be flushed counts as clean, and is not on the disk.
    mutating func dropPending(_ identity: FileStatus.Identity) {
        files[identity]?.pending = []
    }

    mutating func rename(_ identity: FileStatus.Identity, _ path: String, to newPath: String) {
        pendingNames[path.parentFolder, default: []] += [.set(newPath, identity), .removed(path)]
    }

    mutating func remove(_ path: String) {
        pendingNames[path.parentFolder, default: []].append(.removed(path))
    }

    mutating func flushFolder(_ path: String) {
        let changes = pendingNames.removeValue(forKey: path) ?? []
        for change in changes { Disk.apply(change, to: &names) }
    }

    private static func apply(_ change: NameChange, to names: inout [String: FileStatus.Identity]) {
        switch change {
        case .set(let path, let identity): names[path] = identity
        case .removed(let path): names[path] = nil
        }
    }

    /// The files, by path, that a disk may hold when power returns.
    func afterPowerLoss(_ generator: inout SeededGenerator) -> [String: [UInt8]] {
        var names = names
        for folder in pendingNames.keys.sorted() {
            let changes = pendingNames[folder] ?? []
            for change in changes.prefix(Int.random(in: 0...changes.count, using: &generator)) {
                Disk.apply(change, to: &names)
            }
        }
        var contents: [String: [UInt8]] = [:]
        for path in names.keys.sorted() {
            guard let identity = names[path], let file = files[identity] else { continue }
            contents[path] = file.afterPowerLoss(&generator)
        }
        return contents
    }
}

extension Disk.File {
    /// As the system shows it while there is power.
    var written: [UInt8] {
        pending.reduce(into: durable) { bytes, write in bytes.write(write.bytes, at: write.offset) }
    }

    /// Each sector that was written since the last flush has one of the contents that it had since then; disks write a
    /// sector whole or not at all, and in any order.
    func afterPowerLoss(_ generator: inout SeededGenerator) -> [UInt8] {
        var versions: [[UInt8]] = [durable]
        for write in pending {
            var next = versions[versions.count - 1]
            next.write(write.bytes, at: write.offset)
            versions.append(next)
        }
        let share = [0.02, 0.3, 0.5, 0.7, 0.98][Int.random(in: 0..<5, using: &generator)]
        var result = durable
        for sector in touchedSectors {
            guard Double.random(in: 0..<1, using: &generator) < share else { continue }
            let version = versions[Int.random(in: 1..<versions.count, using: &generator)]
            let start = sector * Disk.sector
            // Nothing, if the file ended before the sector then.
            result.write(Array(version.dropFirst(start).prefix(Disk.sector)), at: start)
        }
        // The file's length may have become durable before what lies in it.
        if let last = versions.last, result.count < last.count, Bool.random(using: &generator) {
            result.write([0], at: last.count - 1)
        }
        return result
    }

    private var touchedSectors: [Int] {
        var sectors: Set<Int> = []
        for write in pending where !write.bytes.isEmpty {
            sectors.formUnion(write.offset / Disk.sector...(write.offset + write.bytes.count - 1) / Disk.sector)
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
