import Glibc
import LinuxSystem
import TestSupport

extension SimulatedFileSystem {
    func synchronizeData(_ descriptor: borrowing FileDescriptor) throws(SystemError) { try synchronize(descriptor) }

    func synchronize(_ descriptor: borrowing FileDescriptor) throws(SystemError) {
        let file = try file(descriptor)
        try begin(.flush, file.path)
        let isVault = file.path.hasSuffix(Image.vaultName)
        let isVaultFolder = file.key.node == .folder && file.path.hasSuffix(Image.vaultFolder)
        if isVault || isVaultFolder { process.beginFlush() }
        let hang = isVault || isVaultFolder ? world.takeHang(process, file) : nil
        let isFailing =
            hang?.isFailing ?? (isVault && process.takeFailure(.vaultFlush))
            || (isVaultFolder && process.takeFailure(.vaultFolderFlush))
            || process.takeFailure(file.key.node == .folder ? .folderFlush : .flush)
        if hang?.isFailing == true { process.faultsMet += 1 }
        try wait(hang, file)
        try endIfDue(.flush)
        if let hang, hang.pause > 0 { process.stalledUntil = world.scheduler.clock + hang.pause }
        // If it is the disk's own cache that cannot be flushed, Linux tells the caller alone. What is in that cache may
        // still last: the next flush that succeeds, whoever makes it, is one of all of it.
        if isFailing, Int.random(in: 0..<4, using: &world.chance) == 0 {
            world.trace("fails, which is told here alone", file.path)
            noteFlush(file, isFailing: true)
            throw SystemError(EIO, "flush")
        }
        world.flush(file.key, isFailing: isFailing)
        var isReported = isFailing
        if case .file(let number) = file.key.node {
            isReported = world.disks[file.key.disk].reportFailure(of: number, to: &file.knownFailures)
            if isReported, !isFailing { process.faultsMet += 1 }
        }
        noteFlush(file, isFailing: isReported)
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
        if let hang {
            world.hanging[file.key] = clock + time
            world.onHang(process, hang)
        }
        world.trace("takes \(time / 1_000_000) ms", file.path)
        world.scheduler.sleep(time)
        guard process.isDead else { return }
        // The kernel goes on with the flush of a process that was killed. Nobody is told how that ends.
        if let hang, world.powerLosses[process.machine] == losses { world.flush(file.key, isFailing: hang.isFailing) }
        throw SystemError(EIO, "flush (killed)")
    }

    // MARK: Events

    /// Notes a call on an open file.
    func note(_ file: OpenFile, _ call: String, _ rest: String = "") {
        guard let events = world.events, file.key.node != .folder else { return }
        events.note(process, "\(call) \(file.eventName)\(rest)")
    }

    /// Notes the result of a flush.
    func noteFlush(_ file: OpenFile, isFailing: Bool) {
        let result = isFailing ? "error" : "ok"
        guard file.key.node == .folder else { return note(file, "flush", " \(result)") }
        if file.path.hasSuffix(Image.vaultFolder) { world.events?.note(process, "flushfolder \(result)") }
    }
}

extension World {
    /// Returns what a flush of the vault, or of its folder, takes.
    func takeHang(_ process: Process, _ file: OpenFile) -> Process.Hang? {
        if file.key.node == .folder {
            return disks[file.key.disk].hasPendingNames(in: file.path) ? folderHang.take() : nil
        }
        defer { process.hasUnflushedRecord = false }
        if process.hasUnflushedRecord, let hang = hang.take() { return hang }
        return process.hang.take()
    }

    /// Writes to the disk what is pending of a file or folder; if that fails, a part of it.
    func flush(_ key: FileKey, isFailing: Bool = false) {
        switch (key.node, isFailing) {
        case (.folder, false): disks[key.disk].flushFolder(key.path)
        case (.folder, true): disks[key.disk].failFolderFlush(key.path, &chance)
        case (.file(let number), false): disks[key.disk].flush(number)
        case (.file(let number), true): disks[key.disk].failFlush(number, &chance)
        }
    }
}
