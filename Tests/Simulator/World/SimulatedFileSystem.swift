import Glibc
import LinuxSystem
import TestSupport

/// The file system of a world, as one of its processes sees it. Each call is a step of the simulation.
struct SimulatedFileSystem: FileSystem {
    let world: World
    let process: Process

    // MARK: A call

    /// Lets others run first. Throws if the process was killed, or if this call is to fail.
    func begin(_ call: Call, _ path: String, _ failing: Process.Failing? = nil) throws(SystemError) {
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

    func endIfDue(_ call: Call) throws(SystemError) {
        guard let end = process.takeEnd() else { return }
        world.onEnd(process, end)
        if process.isDead { throw SystemError(EIO, "\(call) (killed)") }
    }

    enum Call: UInt8 {
        case open, read, write, look, flush, lock, rename, remove, makeFolder, set
    }

    private func disk(of path: String) throws(SystemError) -> Int {
        if path == World.home || path.hasPrefix(World.home + "/") { return process.machine }
        if path == World.share || path.hasPrefix(World.share + "/") { return world.disks.count - 1 }
        // Above the disks is what this user may not even list.
        throw SystemError(World.home.hasPrefix(path) ? EACCES : ENOENT, "inspect")
    }

    func file(_ descriptor: borrowing FileDescriptor) throws(SystemError) -> OpenFile {
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
        note(file, "open")
        return FileDescriptor(simulated: Release(number, world), number: number)
    }

    /// Closes a file when its descriptor is gone.
    private final class Release: Sendable {
        let number: Int32
        let world: World

        init(_ number: Int32, _ world: World) {
            self.number = number
            self.world = world
        }

        deinit {
            guard let file = world.openFiles.removeValue(forKey: number) else { return }
            if file.key.node != .folder { world.events?.note(file.process, "close \(file.eventName)") }
        }
    }

    func rename(_ path: String, to newPath: String, replacing: Bool) throws(SystemError) {
        try begin(.rename, path)
        let disk = try disk(of: path)
        guard let node = world.disks[disk].names[path] else { throw SystemError(ENOENT, "rename") }
        let isFailing = process.takeFailure(.rename)
        world.events?.note(
            process,
            "rename \(EventLog.name(of: FileKey(disk: disk, node: node), at: path, process.machine)) "
                + (isFailing ? "error" : "ok"))
        if isFailing { throw SystemError(EIO, "rename") }
        guard replacing || world.disks[disk].names[newPath] == nil else { throw SystemError(EEXIST, "rename") }
        world.disks[disk].rename(path, to: newPath)
        for file in world.openFiles.values where file.key.disk == disk && file.key.node == node { file.path = newPath }
        world.touchFolder(disk, path)
        world.touchFolder(disk, newPath)
    }

    func remove(_ path: String) throws(SystemError) {
        try begin(.remove, path)
        let disk = try disk(of: path)
        guard let node = world.disks[disk].names[path] else { throw SystemError(ENOENT, "remove") }
        guard node != .folder else { throw SystemError(EISDIR, "remove") }
        world.events?.note(
            process, "remove \(EventLog.name(of: FileKey(disk: disk, node: node), at: path, process.machine))")
        world.disks[disk].remove(path)
        world.touchFolder(disk, path)
    }

    func makeFolder(_ path: String) throws(SystemError) {
        try begin(.makeFolder, path)
        let disk = try disk(of: path)
        guard world.disks[disk].names[path] == nil else { return }
        guard world.disks[disk].names[path.parentFolder] == .folder else {
            throw SystemError(ENOENT, "create the folder")
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
        let part = bytes.dropFirst(Int(offset)).prefix(buffer.count)
        try note(file(descriptor), "read", " \(offset) \(part.count)")
        buffer.copyBytes(from: part)
        return part.count
    }

    func nextData(_ descriptor: borrowing FileDescriptor, from offset: UInt64) throws(SystemError) -> UInt64? {
        try begin(.read, name(descriptor))
        return try offset < world.bytes(of: file(descriptor).key).count ? offset : nil
    }

    /// A write that fails has written a part. If the disk fails, over existing bytes, that ends with a whole page, as
    /// the kernel copies them; at a full disk it may be any part. Past a limit on the size of files nothing is written.
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
        try world.events?.noteWrite(process, file(descriptor), written, at: Int(offset), of: bytes.count)
        world.disks[key.disk].write(number, written, at: Int(offset))
        world.touch(key)
        if let record = WrittenRecord(written, at: Int(offset)) {
            process.hasUnflushedRecord = true
            world.onRecord(process, key, record)
        }
    }

    // MARK: Locks

    func tryLock(_ descriptor: borrowing FileDescriptor, _ kind: LockKind) throws(SystemError) -> Bool {
        try begin(.lock, name(descriptor))
        let file = try file(descriptor)
        let others = world.openFiles.values.filter { $0 !== file && $0.key == file.key && $0.lock != nil }
        let isFree = others.allSatisfy { kind == .shared && $0.lock == .shared }
        note(file, "lock", " \(kind) \(isFree ? "ok" : "busy")")
        guard isFree else { return false }
        file.lock = kind
        return true
    }

    func unlock(_ descriptor: borrowing FileDescriptor) {
        guard let file = try? file(descriptor) else { return }
        if file.lock != nil { note(file, "unlock") }
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
        guard let node = world.disks[disk].names[path] else { throw SystemError(ENOENT, "inspect") }
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
