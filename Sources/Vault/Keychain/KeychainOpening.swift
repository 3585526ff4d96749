import LinuxSystem
import SealedLog

/// The ways to an open vault.
struct KeychainOpening {
    struct Outcome {
        let places: VaultPlaces
        /// The vault's path without symbolic links.
        let vaultPath: String
        let options: Keychain.Options
        let created: Keychain.Created
        let keyFileSharing: KeyFile.Sharing?
        let log: SealedLog
    }

    private let places: VaultPlaces
    private let options: Keychain.Options
    private let fileSystem: any FileSystem
    /// Without symbolic links: a rename would replace them.
    private let vaultPath: String
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
            do throws(LogError) { return try open(Keychain.Created()) } catch {
                guard error.code == .missing else { throw error }
                guard creation == .ifAbsent else {
                    try checkThatNoneIsGone()
                    throw error
                }
            }
            do throws(LogError) { return try make(label: "", cost: .standard, evenIfOneIsGone: false) } catch {
                // Someone else was first; theirs is the vault.
                guard error.code == .exists else { throw error }
                return try open(Keychain.Created())
            }
        }
    }

    func create(label: String, cost: KeyFileCost) throws(VaultError) -> Outcome {
        try places.check(resolvedVault: vaultPath)
        return try translated { () throws(LogError) in
            try make(label: label, cost: cost, evenIfOneIsGone: true)
        }
    }

    private func open(_ created: Keychain.Created) throws(LogError) -> Outcome {
        var sharing: KeyFile.Sharing?
        let log = try SealedLog.open(vaultPath, options: logOptions, in: fileSystem) { () throws(LogError) in
            let key = try readKey()
            sharing = key.sharing
            return key
        }
        return outcome(log, created, sharing)
    }

    private func isThere(_ path: String) throws(LogError) -> Bool {
        do { _ = try fileSystem.status(at: path) } catch {
            // What cannot be looked at may be there.
            guard !error.isNameTooLong else { throw LogError(error, path) }
            return !error.isMissing
        }
        return true
    }

    func readKey() throws(LogError) -> KeyFile {
        try KeyFile.read(
            keyPath, secretFolders: places.secretFolders, acceptsShared: options.acceptsSharedKeyFile, in: fileSystem)
    }

    // MARK: Making

    /// A vault that was here and is gone may be on a disk that is not mounted, or deleted by mistake: making another
    /// would hide that, and so would saying that there never was one.
    private func checkThatNoneIsGone() throws(LogError) {
        guard let memory = places.memory, try !isThere(vaultPath),
            SealedLog.rememberedVault(at: vaultPath, memoryFolder: memory, in: fileSystem) != nil
        else { return }
        throw LogError(.gone, vaultPath)
    }

    private func make(label: String, cost: KeyFileCost, evenIfOneIsGone: Bool) throws(LogError) -> Outcome {
        let deadline = Deadline(after: options.lockTimeout)
        let lock = try FolderLock.acquire(forFile: vaultPath, in: fileSystem, until: deadline)
        guard try !isThere(vaultPath) else { throw LogError(.exists, vaultPath) }
        if !evenIfOneIsGone { try checkThatNoneIsGone() }
        var created = Keychain.Created()
        created.keyFileIsBesideVault = isKeyBesideVault
        let log: SealedLog
        var sharing: KeyFile.Sharing?
        // The key comes first: a vault without a key would be lost from the start.
        if try !isThere(keyPath),
            let key = try KeyFile.create(
                at: keyPath, isFolderLocked: isKeyBesideVault, in: fileSystem, until: deadline)
        {
            created.keyFile = true
            log = try makeVault(key, label, cost)
        } else {
            let key = try readKey()
            (sharing, created.keyFileIsShort) = (key.sharing, key.isShort)
            try KeyFile.makeDurable(at: keyPath, in: fileSystem)
            log = try makeVault(key, label, cost)
        }
        created.vault = true
        lock.release()
        return outcome(log, created, sharing)
    }

    /// Whether their folders are one: its lock cannot be taken twice. That of the vault is there.
    private var isKeyBesideVault: Bool {
        guard let folder = try? fileSystem.status(at: vaultPath.parentFolder) else { return false }
        return folder.identity == (try? fileSystem.status(at: resolvedPath(keyPath).parentFolder))?.identity
    }

    private func makeVault(
        _ key: borrowing KeyFile, _ label: String, _ cost: KeyFileCost
    ) throws(LogError) -> SealedLog {
        try SealedLog.create(
            vaultPath, key: key, label: label, limits: cost.limits, options: logOptions, in: fileSystem)
    }

    // MARK: Salvaging

    func salvage(to target: String, _ progress: UpkeepProgress?) throws(VaultError) -> SalvageReport {
        try places.check(resolvedVault: vaultPath)
        try VaultPlaces.check(target, "The new vault's path")
        let target = resolvedPath(target)
        return try translated { () throws(LogError) in
            if try !isThere(vaultPath) { try checkThatNoneIsGone() }
            let key = try readKey()
            // All locks are taken anew after the wait that is told: nothing is held then.
            return try LockPatience(options, path: vaultPath).wait { (timeout) throws(LogError) in
                let lock = try FolderLock.acquire(
                    forFile: target, in: fileSystem, until: Deadline(after: timeout))
                guard try !isThere(target) else { throw LogError(.exists, target) }
                var logOptions = logOptions
                logOptions.lockTimeout = timeout
                let report = try SealedLog.salvage(
                    vaultPath, to: target, key: key, options: logOptions, in: fileSystem, progress?.counter)
                lock.release()
                progress?.counter.finish()
                return report
            }
        }
    }

    // MARK: Results

    private func outcome(
        _ log: SealedLog, _ created: Keychain.Created, _ sharing: KeyFile.Sharing?
    ) -> Outcome {
        Outcome(
            places: places, vaultPath: vaultPath, options: options, created: created, keyFileSharing: sharing, log: log)
    }

    private func translated<Result>(_ body: () throws(LogError) -> Result) throws(VaultError) -> Result {
        do { return try body() } catch { throw VaultError(error, places) }
    }
}
