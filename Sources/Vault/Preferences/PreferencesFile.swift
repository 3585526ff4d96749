import PropertyList
import SealedLog
import Sealing

/// The property list file of a suite: read whole, and replaced whole under the lock of its folder.
struct PreferencesFile: Sendable {
    let path: String
    let fileSystem: any FileSystem

    /// How long others may hold the folder's lock.
    static let patience: Duration = .seconds(10)
    /// The size of a file that is still read: 64 MiB.
    static let sizeLimit: UInt64 = 64 << 20
    private static let readAttempts = 5

    /// What lies at the path now; nil if nothing does.
    func status() throws(VaultError) -> FileStatus? {
        do { return try fileSystem.status(at: path) } catch {
            guard error.isMissing else { throw VaultError(system: LogError(error, path)) }
            return nil
        }
    }

    /// Reads the file; no file is an empty one.
    func read() throws(VaultError) -> PreferencesSnapshot {
        var attempts = PreferencesFile.readAttempts
        while true {
            do { return try readOnce() } catch {
                // Tools that write in place are seen half way: what is damaged now may be whole in a moment.
                attempts -= 1
                guard error.code == .damaged, attempts > 0 else { throw error }
                Pause.microseconds(5_000)
            }
        }
    }

    private func readOnce() throws(VaultError) -> PreferencesSnapshot {
        do throws(LogError) {
            let now = PreferencesSnapshot.now
            let store = try FileRecordStore.open(path, in: fileSystem)
            let (bytes, status) = try store.contents(upTo: PreferencesFile.sizeLimit)
            let (values, format) = try parse(bytes)
            return PreferencesSnapshot(values, format, status, store, readAt: now)
        } catch {
            guard error.code != .missing else { return PreferencesSnapshot() }
            throw VaultError(preferences: error, path)
        }
    }

    private func parse(_ bytes: [UInt8]) throws(LogError) -> ([String: PropertyList], PropertyListFormat) {
        do throws(PropertyListError) {
            let (list, format) = try PropertyList.parse(bytes)
            guard case .dictionary(let values) = list else {
                throw PropertyListError(.malformed, "its root is no dictionary")
            }
            return (values, format)
        } catch {
            throw LogError(.damaged, error.sentence)
        }
    }

    /// Reads the file, lets `body` change what it holds, and writes it, all while nobody else does.
    ///
    /// - Parameter body: false leaves the file as it is.
    /// - Returns: what the file holds afterwards; nil if it was left.
    func update(
        _ body: (inout [String: PropertyList]) throws(VaultError) -> Bool
    ) throws(VaultError) -> PreferencesSnapshot? {
        let lock: FolderLock
        do {
            lock = try FolderLock.acquire(path.parentFolder, in: fileSystem, until: Deadline(after: Self.patience))
        } catch {
            throw VaultError(preferences: error, path)
        }
        let former = try read()
        var values = former.values
        guard try body(&values) else { return nil }
        let bytes = try serialized(values, former.format)
        do throws(LogError) {
            let now = PreferencesSnapshot.now
            let (store, status) = try replace(with: bytes, lock)
            lock.release()
            return PreferencesSnapshot(values, former.format, status, store, readAt: now)
        } catch { throw VaultError(preferences: error, path) }
    }

    /// - Throws: ``VaultError/Code/invalid`` for what the format cannot hold.
    func serialized(
        _ values: [String: PropertyList], _ format: PropertyListFormat
    ) throws(VaultError) -> [UInt8] {
        let list = PropertyList.dictionary(values)
        do throws(PropertyListError) { return try format == .xml ? list.xml() : list.binary() } catch {
            throw VaultError(.invalid, "That cannot be stored in a property list: \(error.sentence).")
        }
    }

    private func replace(
        with bytes: [UInt8], _ lock: borrowing FolderLock
    ) throws(LogError) -> (FileRecordStore, FileStatus) {
        let store = try FileRecordStore.createUnpublished(for: path, in: fileSystem)
        // Who may not give files away keeps this one.
        if let former = try? fileSystem.status(at: path) { try? store.takeOwner(of: former) }
        do throws(LogError) {
            try bytes.withRawBytes { (bytes) throws(LogError) in try store.write(bytes, at: 0) }
            try store.publish(replacing: true)
        } catch {
            store.discard()
            throw error
        }
        do { try lock.synchronizeFolder(in: fileSystem) } catch {
            // The new file is in its place; whether it stays there after a crash is open.
            throw LogError(.outcomeUnknown, systemError: error.number)
        }
        return (store, try store.status())
    }
}

extension VaultError {
    /// What went wrong with a property list file.
    init(preferences error: LogError, _ path: String) {
        switch error.code {
        case .damaged:
            self.init(
                .damaged,
                "The property list \(path) is damaged: \(error.detail). Mend it, or move it away; nothing is written to it."
            )
        case .notAFile:
            self.init(.unavailable, "The property list \(path) is \(error.detail), not a file; move it away.")
        case .busy: self.init(.busy, "Another process holds \(error.detail); try again when it is done.")
        case .outcomeUnknown:
            self.init(
                .outcomeUnknown, "The disk failed while \(path) was written, so the last change may or may not last.",
                systemError: error.systemError)
        default: self.init(system: error)
        }
    }
}

extension PropertyListError {
    /// What is wrong, and where; a part of a sentence.
    var sentence: String { line.map { "\(detail) (line \($0))" } ?? detail }
}
