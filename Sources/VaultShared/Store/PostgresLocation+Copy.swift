private import Glibc
import LinuxSystem
package import SealedLog

// The local files for a vault in a database: its local copy, and changes made offline that are yet to be merged.

extension PostgresLocation {
    package func pending() throws(LogError) -> FileLocation? {
        guard let pendingPath else { return nil }
        let location = FileLocation(pendingPath, in: files, mergedInto: self)
        do throws(LogError) { return try location.exists() ? location : nil } catch {
            // ENOTDIR means that part of the path is not a folder, so the file cannot exist.
            guard error.systemError == ENOTDIR else { throw error }
            return nil
        }
    }

    /// Creates the file for pending changes from the local copy. If another process is creating the file, waits for it.
    ///
    /// - Parameter check: reads and authenticates the whole file. The local copy is never flushed, so a power loss may
    ///   have damaged it, and changes to a damaged copy could never be merged.
    func beginPending(until deadline: Deadline, _ check: (any RecordStore) throws(LogError) -> Void) throws(LogError) {
        guard try pending() == nil else { return }
        if let cacheDistrust { throw cacheDistrust }
        if let other = pendingPath.flatMap({ files.partOfAnotherUser(above: $0.parentFolder) }) {
            throw LogError(.untrustworthy, Distrust.anotherOwner.reason(of: other))
        }
        // Another process may have extended the local copy since this process last read the copy's state.
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
        "Nothing can be stored offline, because this machine's copy of \(path) is incomplete. Verify the vault while "
            + "the server can be reached; this completes the copy."
    }

    /// Saves the local copy to a new file, which no later copy replaces, and posts a notice.
    ///
    /// - Parameter end: returns the offset at which the copy's log ends. The bytes after it may be of another history.
    func keepCopy(upTo end: (any RecordStore) throws(LogError) -> UInt64) throws(LogError) {
        // Another process may have extended the local copy since this process last read the copy's state.
        mirror?.reread()
        guard let last = keptPaths.last, let mirror, let head = mirror.head else { return }
        let isComplete = mirror.completePath != nil
        let usable =
            keptPaths.first {
                files.partOfAnotherUser(above: $0.parentFolder) == nil
                    && (try? files.makeFolders($0.parentFolder)) != nil
            } ?? last
        // Other processes may save a copy in the same millisecond, so the file name also contains a random number.
        let path = "\(usable)-\(Clock.milliseconds)-\(UInt32.random(in: 0 ... .max)).vault"
        try write(mirror, as: head, to: path) { (copy) throws(LogError) in
            if let end = try? end(copy), end < head.size {
                try copy.prepareAppend(behind: LogEnd(at: end, needsClearing: true))
            }
        }
        copyInFile.withLock { $0 = head.position }
        mirror.setIncluded(head.position)
        notices.post(.copyKept(path, isComplete: isComplete))
    }

    /// Writes all bytes of the local copy to a new file.
    ///
    /// - Parameter finish: completes the file before it is published under its name.
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
        let change = LogError(.unreachable, "This machine's copy of \(path) is being changed. Try again.")
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
