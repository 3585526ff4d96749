private import CLinux

// A file is written under another name in the same folder, and gets its own by a rename: nobody ever sees half of it.

extension FileRecordStore {
    /// A new, empty file that will take the name `path`.
    ///
    /// Its name until then is fixed, and one that nobody gives to a file of their own: only whoever holds the lock of
    /// the vault, or of its folder, makes one, so one that is there was left by a crash.
    package static func createUnpublished(
        for path: String, in fileSystem: any FileSystem
    ) throws(LogError) -> FileRecordStore {
        let temporaryPath = unpublishedPath(for: path)
        vault_guard_temporary(temporaryPath)
        let file: FileDescriptor
        do throws(SystemError) {
            do { try fileSystem.remove(temporaryPath) } catch {
                guard error.isMissing else { throw error }
            }
            file = try fileSystem.open(temporaryPath, .create)
        } catch { throw LogError(error, temporaryPath) }
        return try FileRecordStore(file, at: path, in: fileSystem, temporaryPath: temporaryPath)
    }

    /// Where a file is written that is to take the name `path`.
    package static func unpublishedPath(for path: String) -> String {
        let folder = path.parentFolder
        return "\(folder == "/" ? "" : folder)/.\(path.lastPathComponent).vault-new"
    }

    package func makeReplacement() throws(LogError) -> any RecordStore {
        let new = try FileRecordStore.createUnpublished(for: location, in: fileSystem)
        do throws(SystemError) {
            let status = try fileSystem.status(of: file)
            try new.takeOwner(of: status)
            if try fileSystem.status(of: new.file).mode != status.mode {
                try fileSystem.setMode(new.file, status.mode)
            }
        } catch {
            new.discard()
            throw LogError(error, location)
        }
        return new
    }

    /// Gives this file the owner of the one that it replaces: what root changes stays its user's.
    package func takeOwner(of other: FileStatus) throws(SystemError) {
        let own = try fileSystem.status(of: file)
        guard own.owner != other.owner || own.group != other.group else { return }
        try fileSystem.setOwner(file, owner: other.owner, group: other.group)
    }

    package func publish(replacing: Bool) throws(LogError) {
        guard let temporaryPath else { return }
        do throws(SystemError) {
            try fileSystem.synchronize(file)
            try fileSystem.rename(temporaryPath, to: location, replacing: replacing)
            vault_guard_temporary(nil)
        } catch {
            if error.isExisting { throw LogError(.exists, location) }
            throw LogError(error, location)
        }
    }

    package func discard() {
        guard let temporaryPath else { return }
        try? fileSystem.remove(temporaryPath)
        vault_guard_temporary(nil)
    }

    package func removeLeftReplacement() {
        try? fileSystem.remove(FileRecordStore.unpublishedPath(for: location))
    }
}
