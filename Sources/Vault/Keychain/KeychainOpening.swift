import LinuxSystem
import SealedLog

/// Opens, creates or salvages a vault.
struct KeychainOpening {
    struct Outcome {
        let opening: KeychainOpening
        let log: SealedLog
        let created: Keychain.Created
        let keyFileSharing: KeyFile.Sharing?
    }

    let places: VaultPlaces
    let options: Keychain.Options
    /// Without symbolic links: a rename would replace them.
    let vaultPath: String
    private let fileSystem: any FileSystem
    private var keyPath: String { places.keyFile }

    init(_ places: VaultPlaces, _ options: Keychain.Options, fileSystem: any FileSystem = PosixFileSystem()) {
        self.places = places
        self.options = options
        self.fileSystem = fileSystem
        vaultPath = resolvedPath(places.vault)
    }

    private var logOptions: SealedLog.Options {
        var accepted: [LogError.Code] = []
        if options.acceptedAlarms.contains(.rolledBack) { accepted.append(.rolledBack) }
        if options.acceptedAlarms.contains(.diverged) { accepted.append(.diverged) }
        if options.acceptedAlarms.contains(.exchanged) { accepted.append(.exchanged) }
        return SealedLog.Options(
            lockTimeout: options.lockTimeout, accepted: accepted, memoryFolder: places.memory)
    }

    // MARK: Opening

    func open(creating creation: Keychain.Creation) throws(VaultError) -> Outcome {
        try places.check(resolvedVault: vaultPath)
        return try translated { () throws(LogError) in
            do throws(LogError) { return try open() } catch {
                guard error.code == .missing else { throw error }
                guard creation == .ifAbsent else {
                    try checkThatNoneIsGone()
                    throw error
                }
            }
            do throws(LogError) { return try create(label: "", cost: .standard, evenIfOneIsGone: false) } catch {
                // Another process was faster: its vault counts.
                guard error.code == .exists else { throw error }
                return try open()
            }
        }
    }

    private func open() throws(LogError) -> Outcome {
        var sharing: KeyFile.Sharing?
        let log = try SealedLog.open(vaultPath, options: logOptions, in: fileSystem) { () throws(LogError) in
            let key = try readKey()
            sharing = key.sharing
            return key
        }
        return Outcome(opening: self, log: log, created: Keychain.Created(), keyFileSharing: sharing)
    }

    func readKey() throws(LogError) -> KeyFile {
        try KeyFile.read(
            keyPath, secretFolders: places.secretFolders, acceptsShared: options.acceptsSharedKeyFile, in: fileSystem)
    }

    // MARK: Creating

    func create(label: String, cost: KeyFileCost) throws(VaultError) -> Outcome {
        try places.check(resolvedVault: vaultPath)
        return try translated { () throws(LogError) in try create(label: label, cost: cost, evenIfOneIsGone: true) }
    }

    private func create(label: String, cost: KeyFileCost, evenIfOneIsGone: Bool) throws(LogError) -> Outcome {
        let deadline = Deadline(after: options.lockTimeout)
        let lock = try FolderLock.acquire(forFile: vaultPath, in: fileSystem, until: deadline)
        guard try !exists(vaultPath) else { throw LogError(.exists, vaultPath) }
        if !evenIfOneIsGone { try checkThatNoneIsGone() }
        var created = Keychain.Created()
        created.keyFileIsBesideVault = isKeyBesideVault
        let log: SealedLog
        var sharing: KeyFile.Sharing?
        // The key comes first: a vault without a key would be lost from the start.
        if try !exists(keyPath),
            let key = try KeyFile.create(
                at: keyPath, isFolderLocked: isKeyBesideVault, in: fileSystem, until: deadline)
        {
            created.keyFile = true
            log = try createLog(key, label, cost)
        } else {
            let key = try readKey()
            (sharing, created.keyFileIsShort) = (key.sharing, key.isShort)
            try KeyFile.makeDurable(at: keyPath, in: fileSystem)
            log = try createLog(key, label, cost)
        }
        created.vault = true
        lock.release()
        return Outcome(opening: self, log: log, created: created, keyFileSharing: sharing)
    }

    private func createLog(
        _ key: borrowing KeyFile, _ label: String, _ cost: KeyFileCost
    ) throws(LogError) -> SealedLog {
        try SealedLog.create(
            vaultPath, key: key, label: label, limits: cost.limits, options: logOptions, in: fileSystem)
    }

    /// Whether vault and key file are in one folder, whose lock cannot be taken twice. The vault's folder exists.
    private var isKeyBesideVault: Bool {
        guard let folder = try? fileSystem.status(at: vaultPath.parentFolder) else { return false }
        return folder.identity == (try? fileSystem.status(at: resolvedPath(keyPath).parentFolder))?.identity
    }

    // MARK: Salvaging

    func salvage(to target: String, _ progress: UpkeepProgress?) throws(VaultError) -> Salvage {
        try places.check(resolvedVault: vaultPath)
        try VaultPlaces.check(target, "The new vault's path")
        let target = resolvedPath(target)
        return try translated { () throws(LogError) in
            if try !exists(vaultPath) { try checkThatNoneIsGone() }
            let key = try readKey()
            // All locks are taken again after `onWaiting`, so that none is held while it runs.
            return try options.waiting(for: vaultPath) { (timeout) throws(LogError) in
                let lock = try FolderLock.acquire(
                    forFile: target, in: fileSystem, until: Deadline(after: timeout))
                guard try !exists(target) else { throw LogError(.exists, target) }
                var logOptions = logOptions
                logOptions.lockTimeout = timeout
                let report = try SealedLog.salvage(
                    vaultPath, to: target, key: key, options: logOptions, in: fileSystem, progress)
                lock.release()
                progress?.finish()
                return report
            }
        }
    }

    // MARK: Checks

    private func translated<Result>(_ body: () throws(LogError) -> Result) throws(VaultError) -> Result {
        do { return try body() } catch { throw VaultError(error, places) }
    }

    private func exists(_ path: String) throws(LogError) -> Bool {
        do { _ = try fileSystem.status(at: path) } catch {
            // What cannot be looked at may exist.
            guard !error.isNameTooLong else { throw LogError(error, path) }
            return !error.isMissing
        }
        return true
    }

    /// A vault that is gone may be on a disk that is not mounted, or deleted by mistake. Creating another would hide
    /// that, and so would an error that there never was one.
    private func checkThatNoneIsGone() throws(LogError) {
        guard let memory = places.memory, try !exists(vaultPath),
            SealedLog.rememberedVault(at: vaultPath, memoryFolder: memory, in: fileSystem) != nil
        else { return }
        throw LogError(.gone, vaultPath)
    }
}

extension Keychain.Options {
    /// Runs what may throw `busy` after the timeout that it is given: one second first, and after ``onWaiting`` the
    /// rest.
    ///
    /// - Parameter path: of the file or folder whose lock is waited for.
    func waiting<Result>(
        for path: String, _ body: (_ timeout: Duration) throws(LogError) -> Result
    ) throws(LogError) -> Result {
        let silence: Duration = .seconds(1)
        guard let onWaiting, lockTimeout > silence else { return try body(lockTimeout) }
        do throws(LogError) { return try body(silence) } catch {
            guard error.code == .busy else { throw error }
        }
        onWaiting(LockHolder.process(holding: path))
        return try body(lockTimeout - silence)
    }
}
