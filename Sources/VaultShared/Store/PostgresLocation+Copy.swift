private import Glibc
import LinuxSystem
package import SealedLog

// What this machine has of the vault beside the database: changes that wait for the server, and what was kept.

extension PostgresLocation {
    // MARK: Changes that wait

    package func pending() throws(LogError) -> FileLocation? {
        guard let pendingPath else { return nil }
        let location = FileLocation(pendingPath, in: files, mergedInto: self)
        do throws(LogError) { return try location.exists() ? location : nil } catch {
            // A part of the path is no folder, so nothing was kept below it.
            guard error.systemError == ENOTDIR else { throw error }
            return nil
        }
    }

    /// Begins a copy of the vault for changes that are made now. Waits for another process that does.
    ///
    /// - Parameter check: reads and authenticates all of it. What this machine keeps is never flushed: after a power
    ///   loss, some of it may be gone, and what is changed in a damaged copy could never be merged.
    func beginPending(
        until deadline: Deadline, _ check: (any RecordStore) throws(LogError) -> Void
    ) throws(LogError) {
        guard try pending() == nil else { return }
        if let cacheDistrust { throw cacheDistrust }
        if let other = pendingPath.flatMap({ files.partOfAnotherUser(above: $0.parentFolder) }) {
            throw LogError(.untrustworthy, Distrust.anotherOwner.reason(of: other))
        }
        // Another process may have kept more.
        mirror?.reread()
        guard let pendingPath, let mirror, let head = mirror.head, mirror.completePath != nil else {
            throw LogError(.unreachable, incompleteCopy)
        }
        let folder = try FolderLock.acquire(forFile: pendingPath, in: files, until: deadline)
        guard try pending() == nil else { return folder.release() }
        try write(mirror, as: head, to: pendingPath) { (copy) throws(LogError) in
            do throws(LogError) { try check(copy) } catch {
                throw error.code == .damaged ? LogError(.unreachable, incompleteCopy) : error
            }
        }
        folder.release()
    }

    private var incompleteCopy: String {
        "Offline, nothing can be stored: this machine has not kept all of \(path). `vault verify`, with the "
            + "server, completes its copy."
    }

    // MARK: A copy that the vault does not include

    /// Writes what this machine has kept of the vault to a file of its own, which nothing replaces, and tells of it.
    ///
    /// - Parameter end: returns where the log in it ends. What a server has sent that does not continue it may follow.
    func keepCopy(upTo end: (any RecordStore) throws(LogError) -> UInt64) throws(LogError) {
        // Another process may have kept more.
        mirror?.reread()
        guard let last = keptPaths.last, let mirror, let head = mirror.head else { return }
        let isComplete = mirror.completePath != nil
        let usable =
            keptPaths.first {
                files.partOfAnotherUser(above: $0.parentFolder) == nil
                    && (try? files.makeFolders($0.parentFolder)) != nil
            } ?? last
        // Other processes may accept the same alarm in the same millisecond.
        let path = "\(usable)-\(Clock.milliseconds)-\(UInt32.random(in: 0 ... .max)).vault"
        try write(mirror, as: head, to: path) { (copy) throws(LogError) in
            if let end = try? end(copy), end < head.size {
                try copy.prepareAppend(behind: LogEnd(at: end, needsClearing: true))
            }
        }
        copyInFile.withLock { $0 = head.position }
        mirror.learnIncluded(head.position)
        notices.post(.copyKept(path, isComplete: isComplete))
    }

    // MARK: Files

    /// Writes all bytes that this machine has kept to a new file.
    ///
    /// - Parameter finish: is called before the file gets its name.
    private func write(
        _ mirror: Mirror, as head: StoreHead, to path: String, finish: (any RecordStore) throws(LogError) -> Void
    ) throws(LogError) {
        let file = try FileLocation(path, in: files).createLocked()
        let lock = StoreLock(store: file)
        do throws(LogError) {
            try fill(file, from: mirror, head)
            try finish(file)
            try file.publish(over: nil, head.position)
        } catch {
            file.discard()
            throw error
        }
        try file.synchronizeLocation()
        lock.release()
    }

    private func fill(_ copy: any NewStore, from mirror: Mirror, _ head: StoreHead) throws(LogError) {
        let change = LogError(.unreachable, "The copy of \(path) on this machine changes. Try again.")
        guard let ranges = mirror.ranges(of: head.generation) else { throw change }
        for range in ranges {
            for piece in range.clamped(to: 0..<head.size).pieces {
                var bytes = [UInt8](repeating: 0, count: piece.count)
                guard bytes.withUnsafeMutableBytes({ mirror.copy(piece, of: head.generation, into: $0) }) else {
                    throw change
                }
                try copy.write(bytes, at: piece.lowerBound)
            }
        }
        try copy.finish(at: head.size, head.hint)
    }
}
