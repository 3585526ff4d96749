private import Glibc
import LinuxSystem
import SealedLog

/// Holds an error, such as a passphrase prompt's, to throw instead of a `LogError`. The log throws only `LogError`.
final class Refusal: Sendable {
    private let error = Mutex<VaultError?>(nil)

    func set(_ new: VaultError?) { error.withLock { $0 = new } }

    func translated(_ other: LogError, _ location: VaultLocation) -> VaultError { kept ?? VaultError(other, location) }

    var kept: VaultError? { error.withLock { $0 } }
}

struct KeychainOpening {
    struct Outcome {
        let log: SealedLog
        var created = Keychain.Created()
        var keyFileSharing: SecretFile.Sharing?
        /// A problem that did not prevent opening: an unusable key file, or offline changes that cannot be merged.
        var notice: VaultError?
        var offlineChanges: Keychain.Copies.Merge?
    }

    let location: VaultLocation
    let options: Keychain.Options
    let storeLocation: any StoreLocation
    /// Holds the error, if any, to throw instead of the log's error: for example, the error of a passphrase prompt.
    let refusal = Refusal()
    private let fileSystem: any FileSystem

    init(
        _ location: VaultLocation, _ options: Keychain.Options, fileSystem: any FileSystem = PosixFileSystem()
    ) throws(VaultError) {
        self.location = location
        self.options = options
        self.fileSystem = fileSystem
        storeLocation = try location.storeLocation(options.store, in: fileSystem)
    }

    private func logOptions(lockTimeout: Duration? = nil, joining: [SealedLog] = []) -> SealedLog.Options {
        var logOptions = SealedLog.Options(
            lockTimeout: lockTimeout ?? options.lockTimeout,
            accepted: options.acceptedAlarms.compactMap { accepted in
                LogError.Code.alarms.first { VaultError.codes[$0] == accepted }
            }, memoryFolder: options.usesRollbackMemory && !isOfWaitingChanges ? location.rollbackMemory : nil,
            joined: joining, compactsByItself: options.compactsByItself, indexMemory: options.indexMemory,
            deviceKey: { [location, fileSystem] () throws(LogError) in try location.readDeviceKey(in: fileSystem) })
        logOptions.keepsHeads = location.isInGit
        return logOptions
    }

    /// Whether the path leads to a file with pending or refused changes instead of a vault. The rollback memory, which
    /// describes the vault itself, is not used for such a file.
    private var isOfWaitingChanges: Bool {
        // Checks the suffix as well as the folder, because the rollback memory's folder may also contain vaults.
        guard [FileLocation.pendingEnding, FileLocation.refusedEnding].contains(where: location.vault.hasSuffix),
            !location.isInDatabase, let folder = location.rollbackMemory
        else { return false }
        return resolvedPath(location.vault).parentFolder == resolvedPath(folder)
    }

    func open(creatingIfAbsent isCreating: Bool) throws(LogError) -> Outcome {
        do { return try open() } catch {
            guard error.code == .missing else { throw error }
            guard isCreating else {
                try checkThatNoneIsGone()
                throw error
            }
        }
        do { return try create(label: "", cost: .standard, isAskedFor: false, replacingGone: false) } catch {
            // Another process has created the vault in the meantime, so that vault is opened.
            guard error.code == .exists else { throw error }
            return try open()
        }
    }

    private func open() throws(LogError) -> Outcome {
        // For a vault in a database, an attempt without the copies would raise an alarm only at the first read.
        if options.mergedNext.isEmpty || !location.isInDatabase {
            do { return try open(joining: []) } catch {
                guard !options.mergedNext.isEmpty, [.rolledBack, .diverged].contains(error.code) else { throw error }
            }
        }
        // The copies may explain the rollback or divergence. If they do not, the error also reports unusable copies.
        var (copies, unusable) = ([SealedLog](), [(path: String, error: VaultError)]())
        for path in options.mergedNext {
            var copy = location
            copy.vault = path
            do throws(VaultError) {
                let log = try KeychainOpening.openCopy(copy, options, in: fileSystem).log
                try copy.translated(log.checkHistory())
                copies.append(log)
            } catch { unusable.append((path, error.ofMergedCopy)) }
        }
        do throws(LogError) { return try open(joining: copies) } catch {
            refusal.set(VaultError.alarm(error, location, tried: options.mergedNext, unusable: unusable))
            throw error
        }
    }

    private func open(joining copies: [SealedLog]) throws(LogError) -> Outcome {
        try unlocking { (unlocker) throws(LogError) in
            let log = try SealedLog.open(storeLocation, options: logOptions(joining: copies), with: &unlocker)
            var outcome = Outcome(log: log, keyFileSharing: unlocker.sharing, notice: unlocker.obstacle)
            if options.offline != .always, !log.keepsChangesApart {
                var path = storeLocation.path
                do throws(LogError) {
                    if let pending = try storeLocation.pending() {
                        path = pending.path
                        let report = try log.mergePending(
                            pending, with: &unlocker, keeping: options.keptAttribute, timeout: options.lockTimeout)
                        outcome.offlineChanges = try report.map { (report) throws(LogError) in
                            let slots = try log.keySlots().shown
                            return Keychain.Copies.Merge(report, from: slots, to: slots, of: slots)
                        }
                    }
                } catch {
                    // The vault is opened despite unmerged acknowledged offline changes, whose file is kept, if the
                    // server is unreachable again and the local copy has them, or if they can never be merged.
                    guard log.keepsChangesApart || !error.isPassing && error.code != .gone else { throw error.ofMerge }
                    outcome.notice = VaultError(ofChangesIn: path, left: error, location)
                }
            }
            return outcome
        }
    }

    /// Runs `body` with an unlocker, which finds the key. Stores the public form of an unlocker's error in ``refusal``.
    private func unlocking<Result>(
        _ body: (inout KeychainUnlocker) throws(LogError) -> Result
    ) throws(LogError) -> Result {
        var unlocker = KeychainUnlocker(location, options.unlocking, in: fileSystem)
        do throws(LogError) { return try body(&unlocker) } catch {
            refusal.set(unlocker.explanation(of: error))
            throw error
        }
    }

    static func openCopy(
        _ copy: VaultLocation, _ vaultOptions: Keychain.Options, checkingFingerprint isPinned: Bool = true,
        in files: any FileSystem
    ) throws(VaultError) -> (log: SealedLog, isPinned: Bool) {
        var options = vaultOptions
        // The rollback memory describes the vault, so it does not apply to the copy.
        options.usesRollbackMemory = false
        options.checksFingerprint = isPinned
        options.mergedNext = []
        let opening = try KeychainOpening(copy, options, fileSystem: files)
        do throws(LogError) { return (try opening.open(creatingIfAbsent: false).log, isPinned) } catch {
            guard isPinned, [.unpinned, .pinWrong].contains(error.code) else {
                throw opening.refusal.translated(error, copy)
            }
        }
        // The copy may have a former data key and thus another fingerprint, so the fingerprint is not checked.
        return try openCopy(copy, vaultOptions, checkingFingerprint: false, in: files)
    }

    // MARK: Creating

    /// - Parameters:
    ///   - isAskedFor: whether the caller requested a new vault. If not, it is created because there was none to open.
    ///   - isReplacing: whether to create the vault even if this machine remembers one that no longer exists.
    func create(
        label: String, cost: Keychain.KeyFileCost, isAskedFor: Bool, replacingGone isReplacing: Bool
    ) throws(LogError) -> Outcome {
        let deadline = Deadline(after: options.lockTimeout)
        // The path is checked first, since acquiring the lock creates the folder.
        if !location.isInDatabase { try checkPath(of: location.vault) }
        // A vault in a database needs no lock, because the database lets only one process create it.
        let lock =
            location.isInDatabase
            ? nil : try FolderLock.acquire(forFile: storeLocation.path, in: fileSystem, until: deadline)
        guard try !storeLocation.exists() else { throw LogError(.exists, storeLocation.path) }
        if !isReplacing { try checkThatNoneIsGone() }
        if !isAskedFor { try checkThatNoSecretIsMissing() }
        var created = Keychain.Created(vault: true, keyFileIsBesideVault: isKeyBesideVault)
        let key: KeyFile
        // The key file is written first, since a vault whose key file is missing could never be opened.
        let isGenerated = try location.readsKeyFile(options.unlocking) ? !keyFileMayExist() : false
        if isGenerated { try checkPath(of: location.keyFile) }
        if isGenerated,
            let new = try KeyFile.create(
                at: location.keyFile, isFolderLocked: created.keyFileIsBesideVault, in: fileSystem, until: deadline)
        {
            created.keyFile = true
            key = new
        } else {
            key = try location.readKey(options.unlocking, in: fileSystem)
            created.keyFileIsShort = key.isShort
            if location.readsKeyFile(options.unlocking) {
                try KeyFile.makeDurable(at: location.keyFile, in: fileSystem)
            }
        }
        let sharing = key.sharing
        let log = try SealedLog.create(
            storeLocation, secret: .keyFile(key), limits: cost.limits,
            parameters: Array((location.keyCommand ?? "").utf8), label: label, history: .standard, options: logOptions()
        )
        lock?.release()
        var outcome = Outcome(log: log, created: created, keyFileSharing: sharing)
        if let command = location.keyCommand {
            do throws(Notice) {
                try location.trust(log.vaultID, in: fileSystem) { $0.allow(command: command) }
            } catch { outcome.notice = VaultError(error, location) }
        }
        return outcome
    }

    /// Whether the vault and its key file are in the same, existing folder. Locking that folder twice would block.
    private var isKeyBesideVault: Bool {
        guard !location.isInDatabase, let folder = try? fileSystem.status(at: storeLocation.path.parentFolder) else {
            return false
        }
        return folder.identity == (try? fileSystem.status(at: resolvedPath(location.keyFile).parentFolder))?.identity
    }

    // MARK: Salvaging

    func salvage(to target: String, _ progress: UpkeepProgress?) throws(LogError) -> SalvageReport {
        let target = FileLocation(resolvedPath(target), in: fileSystem)
        if try !storeLocation.exists() { try checkThatNoneIsGone() }
        // The lock is acquired inside the closure, so that it is not held while `onWaiting` runs.
        return try options.waiting(for: storeLocation.path) { (timeout) throws(LogError) in
            let lock = try FolderLock.acquire(forFile: target.path, in: fileSystem, until: Deadline(after: timeout))
            guard try !target.exists() else { throw LogError(.exists, target.path) }
            let report = try unlocking { (unlocker) throws(LogError) in
                try SealedLog.salvage(
                    storeLocation, to: target, with: &unlocker, options: logOptions(lockTimeout: timeout), progress)
            }
            lock.release()
            progress?.finish()
            return report
        }
    }

    // MARK: Checks

    private func checkPath(of path: String) throws(LogError) {
        do throws(VaultError) { try WrittenPath.checkParentFolder(of: path, in: fileSystem) } catch {
            refusal.set(error)
            throw LogError(.unavailable, "write \(path)", systemError: EACCES)
        }
    }

    /// Returns false only if there is no key file: a later read reports other errors. Throws if the path is too long.
    private func keyFileMayExist() throws(LogError) -> Bool {
        do { return try unlessMissing(fileSystem.status(at: location.keyFile)) != nil } catch {
            guard !error.isNameTooLong else { throw LogError(error, location.keyFile) }
            return true
        }
    }

    /// Throws if the key file is missing from a folder of mounted secrets. A new one would be lost with the container.
    private func checkThatNoSecretIsMissing() throws(LogError) {
        if location.readsKeyFile(options.unlocking),
            SecretFile.isBelow(location.secretFolders, resolvedPath(location.keyFile)), try !keyFileMayExist()
        {
            throw LogError(.keyMissing, location.keyFile)
        }
    }

    /// Throws `gone` if this machine remembers a vault that no longer exists. Its disk might be unmounted, or somebody
    /// might have deleted it by mistake. Creating a new vault, or reporting that there is none, would hide the loss.
    private func checkThatNoneIsGone() throws(LogError) {
        let isRemembered =
            location.rollbackMemory.map { SealedLog.remembersVault(at: storeLocation, memoryFolder: $0) } ?? false
        // Check existence last. Otherwise, a vault that another process creates in the meantime would count as gone.
        guard isRemembered || storeLocation.report?.keptCopy != nil, try !storeLocation.exists() else { return }
        throw LogError(.gone, storeLocation.path)
    }
}

extension Keychain.Options {
    /// Runs `body` with a timeout of one second. If `body` throws `busy`, calls ``onWaiting`` and runs `body` again
    /// with the remaining time.
    ///
    /// - Parameter path: the file or folder whose lock `body` waits for.
    func waiting<Result>(
        for path: String, _ body: (_ timeout: Duration) throws(LogError) -> Result
    ) throws(LogError) -> Result {
        let silence: Duration = .seconds(1)
        guard let onWaiting, lockTimeout > silence else { return try body(lockTimeout) }
        do throws(LogError) { return try body(silence) } catch {
            guard error.code == .busy else { throw error }
        }
        onWaiting(lockHolder(of: path))
        return try body(lockTimeout - silence)
    }
}

extension LogError {
    /// This error with an added sentence about the offline changes, since users would not suspect them as the cause.
    fileprivate var ofMerge: LogError {
        guard [.unreachable, .serverRefused].contains(code) else { return self }
        return LogError(
            code, "\(detail) The offline changes wait until the server can store them; `--offline` shows them.")
    }
}
