import Glibc
import LinuxSystem
import TestSupport

/// The file system of a world, as one of its processes sees it. Each call is a step of the simulation.
struct SimulatedFileSystem: FileSystem {
    let world: World
    let process: Process

    // MARK: A call

    /// Lets others run first. Throws if the process was killed, or if this call is to fail.
    private func begin(_ call: Call, _ path: String, _ failing: Process.Failing? = nil) throws(SystemError) {
        world.scheduler.step()
        world.note(process.number << 8 | Int(call.rawValue))
        guard !process.isDead else { throw SystemError(EIO, "\(call) (killed)") }
        world.statistics.calls += 1
        world.trace(call, path)
        try endIfDue(call)
        if let failing, process.takeFailure(failing) {
            if path.hasPrefix(World.memory), failing != .write { process.memoryFaultsMet += 1 }
            world.trace("fails", path)
            throw SystemError(EIO, "\(call)")
        }
    }

    private func endIfDue(_ call: Call) throws(SystemError) {
        guard let end = process.takeEnd() else { return }
        world.onEnd(process, end)
        if process.isDead { throw SystemError(EIO, "\(call) (killed)") }
    }

    private enum Call: UInt8 {
        case open, read, write, look, flush, lock, rename, remove, makeFolder, set
    }

    private func disk(of path: String) throws(SystemError) -> Int {
        if path == World.home || path.hasPrefix(World.home + "/") { return process.machine }
        if path == World.share || path.hasPrefix(World.share + "/") { return world.disks.count - 1 }
        // Above the disks is what this user may not even list.
        throw SystemError(World.home.hasPrefix(path) ? EACCES : ENOENT, "look at")
    }

    private func file(_ descriptor: borrowing FileDescriptor) throws(SystemError) -> OpenFile {
        guard let file = world.openFiles[descriptor.number] else { throw SystemError(EBADF, "use") }
        return file
    }

    /// The path that a file was opened with.
    private func name(_ descriptor: borrowing FileDescriptor) -> String {
        world.openFiles[descriptor.number]?.path ?? "closed"
    }

    // MARK: Names

    func open(_ path: String, _ access: FileAccess) throws(SystemError) -> FileDescriptor {
        try begin(.open, path, .open)
        let disk = try disk(of: path)
        let isCreating = access == .create || access == .readWriteOrCreateNoFollow
        let node: Disk.Node
        if let found = world.disks[disk].names[path] {
            guard access != .create else { throw SystemError(EEXIST, "create") }
            let isWriting = access != .read && access != .readNoFollow && access != .folder
            guard found != .folder || !isWriting else { throw SystemError(EISDIR, "open") }
            guard found == .folder || access != .folder else { throw SystemError(ENOTDIR, "open") }
            node = found
        } else {
            guard isCreating, world.disks[disk].names[path.parentFolder] == .folder else {
                throw SystemError(ENOENT, "open")
            }
            node = .file(world.disks[disk].create(path))
            world.touchFolder(disk, path)
        }
        let key = FileKey(disk: disk, node: node, path: node == .folder ? path : "")
        let number = world.numberForFile()
        let file = OpenFile(key, path, process)
        if case .file(let node) = node { file.knownFailures = world.disks[disk].reportedFailures(of: node) }
        world.openFiles[number] = file
        return FileDescriptor(simulated: Release(number, world), number: number)
    }

    /// Closes a file when its descriptor is gone.
    private final class Release: Sendable {
        let number: Int32
        let world: World

        init(_ number: Int32, _ world: World) { (self.number, self.world) = (number, world) }

        deinit { world.openFiles[number] = nil }
    }

    func rename(_ path: String, to newPath: String, replacing: Bool) throws(SystemError) {
        try begin(.rename, path, .rename)
        let disk = try disk(of: path)
        guard world.disks[disk].names[path] != nil else { throw SystemError(ENOENT, "rename") }
        guard replacing || world.disks[disk].names[newPath] == nil else { throw SystemError(EEXIST, "rename") }
        world.disks[disk].rename(path, to: newPath)
        world.touchFolder(disk, path)
        world.touchFolder(disk, newPath)
    }

    func remove(_ path: String) throws(SystemError) {
        try begin(.remove, path)
        let disk = try disk(of: path)
        guard let node = world.disks[disk].names[path] else { throw SystemError(ENOENT, "remove") }
        guard node != .folder else { throw SystemError(EISDIR, "remove") }
        world.disks[disk].remove(path)
        world.touchFolder(disk, path)
    }

    func makeFolder(_ path: String) throws(SystemError) {
        try begin(.makeFolder, path)
        let disk = try disk(of: path)
        guard world.disks[disk].names[path] == nil else { return }
        guard world.disks[disk].names[path.parentFolder] == .folder else {
            throw SystemError(ENOENT, "make the folder")
        }
        world.disks[disk].makeFolder(path)
        world.touchFolder(disk, path)
    }

    // MARK: Bytes

    func read(
        _ descriptor: borrowing FileDescriptor, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws(SystemError) -> Int {
        try begin(.read, name(descriptor), .read)
        let bytes = try world.bytes(of: file(descriptor).key)
        guard offset < bytes.count else { return 0 }
        let part = bytes[Int(offset)..<min(bytes.count, Int(offset) + buffer.count)]
        buffer.copyBytes(from: part)
        return part.count
    }

    func nextData(_ descriptor: borrowing FileDescriptor, from offset: UInt64) throws(SystemError) -> UInt64? {
        try begin(.read, name(descriptor))
        return try offset < world.bytes(of: file(descriptor).key).count ? offset : nil
    }

    /// A write that fails has written a part. If the disk fails, over existing bytes, that ends with a whole page, as the
    /// kernel copies them; at a full disk it may be any part. Past a limit on the size of files nothing is written.
    func write(
        _ descriptor: borrowing FileDescriptor, _ bytes: UnsafeRawBufferPointer, at offset: UInt64
    ) throws(SystemError) {
        let isFailing = process.failing[.write, default: 0] > 0
        do throws(SystemError) { try begin(.write, name(descriptor), .write) } catch {
            guard isFailing, !process.isDead else { throw error }
            let end = Int(offset) + Int.random(in: 0...bytes.count, using: &world.chance)
            let isInside = try end < world.bytes(of: file(descriptor).key).count
            try write(bytes, upTo: max(0, (isInside ? end / 4_096 * 4_096 : end) - Int(offset)), descriptor, at: offset)
            throw error
        }
        let key = try file(descriptor).key
        if let limit = process.sizeLimit, Int(offset) + bytes.count > limit {
            process.faultsMet += 1
            throw SystemError(EFBIG, "write")
        }
        let growth = max(0, Int(offset) + bytes.count - world.bytes(of: key).count)
        guard let room = world.room, growth > room else {
            world.room? -= growth
            return try write(bytes, upTo: bytes.count, descriptor, at: offset)
        }
        process.faultsMet += 1
        world.statistics.count(fault: "full disk met")
        try write(bytes, upTo: max(0, bytes.count - growth + room), descriptor, at: offset)
        world.room = 0
        throw SystemError(ENOSPC, "write")
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, upTo count: Int, _ descriptor: borrowing FileDescriptor, at offset: UInt64
    ) throws(SystemError) {
        let key = try file(descriptor).key
        guard case .file(let number) = key.node else { throw SystemError(EISDIR, "write") }
        let written = Array(bytes.prefix(count))
        world.disks[key.disk].write(number, written, at: Int(offset))
        world.touch(key)
        if let record = WrittenRecord(written, at: Int(offset)) {
            process.hasUnflushedRecord = true
            world.onRecord(process, key, record)
        }
    }

    func synchronizeData(_ descriptor: borrowing FileDescriptor) throws(SystemError) { try synchronize(descriptor) }

    func synchronize(_ descriptor: borrowing FileDescriptor) throws(SystemError) {
        let file = try file(descriptor)
        try begin(.flush, file.path)
        let isVault = file.path.hasSuffix(Image.vaultName)
        let isVaultFolder = file.key.node == .folder && file.path.hasSuffix(Image.vaultFolder)
        if isVault { process.beginFlush() }
        let hang = isVault || isVaultFolder ? world.takeHang(process, isFolder: isVaultFolder) : nil
        let isFailing =
            hang?.isFailing ?? (isVault && process.takeFailure(.vaultFlush))
            || process.takeFailure(file.key.node == .folder ? .folderFlush : .flush)
        if hang?.isFailing == true { process.faultsMet += 1 }
        try wait(hang, file)
        try endIfDue(.flush)
        if let hang, hang.pause > 0 { process.stalledUntil = world.scheduler.clock + hang.pause }
        // If it is the disk's own cache that cannot be flushed, Linux tells the caller alone.
        if isFailing, Int.random(in: 0..<4, using: &world.chance) == 0 {
            world.flush(file.key, isFailing: true, isReported: true)
            world.trace("fails, which is told here alone", file.path)
            throw SystemError(EIO, "flush")
        }
        world.flush(file.key, isFailing: isFailing)
        var isReported = isFailing
        if case .file(let number) = file.key.node {
            isReported = world.disks[file.key.disk].reportFailure(of: number, to: &file.knownFailures)
            if isReported, !isFailing { process.faultsMet += 1 }
        }
        guard isReported else { return }
        world.trace("fails", file.path)
        throw SystemError(EIO, "flush")
    }

    /// Waits as long as a flush hangs; perhaps also for another process's flush of the same file, since the kernel
    /// writes no page twice at once.
    private func wait(_ hang: Process.Hang?, _ file: OpenFile) throws(SystemError) {
        let clock = world.scheduler.clock
        var time = hang?.nanoseconds ?? 0
        if let end = world.hanging[file.key], end > clock, Bool.random(using: &world.chance) {
            time = max(time, end - clock)
        }
        guard time > 0 else { return }
        let losses = world.powerLosses[process.machine]
        if hang != nil { world.hanging[file.key] = clock + time }
        world.trace("takes \(time / 1_000_000) ms", file.path)
        world.scheduler.sleep(time)
        guard process.isDead else { return }
        // The kernel goes on with the flush of a process that was killed. Nobody is told how that ends.
        if let hang, world.powerLosses[process.machine] == losses { world.flush(file.key, isFailing: hang.isFailing) }
        throw SystemError(EIO, "flush (killed)")
    }

    // MARK: Locks

    func tryLock(_ descriptor: borrowing FileDescriptor, _ kind: LockKind) throws(SystemError) -> Bool {
        try begin(.lock, name(descriptor))
        let file = try file(descriptor)
        let others = world.openFiles.values.filter { $0 !== file && $0.key == file.key && $0.lock != nil }
        guard others.allSatisfy({ kind == .shared && $0.lock == .shared }) else { return false }
        file.lock = kind
        return true
    }

    func unlock(_ descriptor: borrowing FileDescriptor) {
        guard let file = try? file(descriptor) else { return }
        file.lock = nil
    }

    // MARK: Metadata

    func volume(of descriptor: borrowing FileDescriptor) -> Volume {
        Volume(isRemote: (try? file(descriptor).key.disk) == world.disks.count - 1)
    }

    func status(of descriptor: borrowing FileDescriptor, withTimes: Bool) throws(SystemError) -> FileStatus {
        try begin(.look, name(descriptor))
        return world.status(of: try file(descriptor).key)
    }

    func status(at path: String, withTimes: Bool) throws(SystemError) -> FileStatus {
        try begin(.look, path)
        let disk = try disk(of: path)
        guard let node = world.disks[disk].names[path] else { throw SystemError(ENOENT, "look at") }
        return world.status(of: FileKey(disk: disk, node: node, path: node == .folder ? path : ""))
    }

    func setMode(_ descriptor: borrowing FileDescriptor, _ mode: UInt32) throws(SystemError) {
        try begin(.set, name(descriptor))
        world.setMode(of: try file(descriptor).key, mode)
    }

    func setOwner(_ descriptor: borrowing FileDescriptor, owner: UInt32, group: UInt32) throws(SystemError) {
        try begin(.set, name(descriptor))
    }
}

extension World {
    /// Returns what a flush of the vault, or of its folder, takes.
    fileprivate func takeHang(_ process: Process, isFolder: Bool) -> Process.Hang? {
        if isFolder { return folderHang.take() }
        defer { process.hasUnflushedRecord = false }
        if process.hasUnflushedRecord, let hang = hang.take() { return hang }
        return process.hang.take()
    }

    /// Writes to the disk what is pending of a file or folder; if that fails, a part of it.
    ///
    /// - Parameter isReported: whether the failure is told to nobody else.
    func flush(_ key: FileKey, isFailing: Bool = false, isReported: Bool = false) {
        switch (key.node, isFailing) {
        case (.folder, false): disks[key.disk].flushFolder(key.path)
        case (.folder, true): disks[key.disk].failFolderFlush(key.path, &chance)
        case (.file(let number), false): disks[key.disk].flush(number)
        case (.file(let number), true): disks[key.disk].failFlush(number, &chance, isReported: isReported)
        }
    }

    func bytes(of key: FileKey) -> [UInt8] {
        guard case .file(let number) = key.node else { return [] }
        return disks[key.disk].files[number]?.written ?? []
    }

    /// Notes that a file has changed.
    func touch(_ key: FileKey) {
        var data = data(of: key)
        (data.contentsChanged, data.changed) = (World.now, World.now)
        metadata[key] = data
    }

    func touchFolder(_ disk: Int, _ path: String) {
        touch(FileKey(disk: disk, node: .folder, path: path.parentFolder))
    }

    func setMode(of key: FileKey, _ mode: UInt32) {
        var data = data(of: key)
        (data.mode, data.changed) = (mode, World.now)
        metadata[key] = data
    }

    /// A file gets the lowest inode number that is free: that of a removed one, if it is closed.
    private func data(of key: FileKey) -> Metadata {
        if let known = metadata[key] { return known }
        let used = Set(
            metadata.compactMap { $0.key.disk == key.disk && isThere($0.key) ? $0.value.inode : nil })
        let free = (2...).first { !used.contains($0) } ?? 0
        let data = Metadata(
            inode: free, mode: key.node == .folder ? 0o700 : 0o600, contentsChanged: World.now, changed: World.now)
        metadata[key] = data
        return data
    }

    private func isThere(_ key: FileKey) -> Bool {
        key.node == .folder || disks[key.disk].names.values.contains(key.node)
            || openFiles.values.contains { $0.key == key }
    }

    func status(of key: FileKey) -> FileStatus {
        let data = data(of: key)
        let names = disks[key.disk].names.values.count { $0 == key.node }
        return FileStatus(
            identity: FileStatus.Identity(device: UInt64(key.disk) + 9_000, inode: data.inode),
            size: UInt64(bytes(of: key).count), contentsChanged: data.contentsChanged, changed: data.changed,
            mode: data.mode, owner: geteuid(), group: getegid(), links: key.node == .folder ? 2 : UInt64(names),
            isRegularFile: key.node != .folder, isDirectory: key.node == .folder)
    }
}
