import Glibc
import LinuxSystem
import Vault

/// Checks a vault's files without opening the vault, for example their modes, their folders and the file system.
struct FileChecks {
    let location: VaultLocation
    /// Phrases that tell the user where the vault's path and the key file's path come from, such as `from --vault`.
    let rules: (vault: String, key: String)
    let advised: AdvisedCommand

    var all: [HealthCheck] {
        if location.isInDatabase { return [.ok("vault", described), key] }
        let folders = Set([location.vault, location.keyFile].map { resolvedPath($0).parentFolder })
        return [vault, key].compactMap(\.self) + folders.sorted().compactMap(folder)
            + [copies, fileSystem, space].compactMap(\.self)
    }

    private var described: String { "\(location.vault) (\(rules.vault))" }

    var noVault: HealthCheck {
        .warning("vault", "No vault exists yet at \(described).", fix: "Create it with `\(advised.line("init"))`.")
    }

    /// The result of checking the vault file; nil if the file is missing, which is reported when the vault is opened.
    private var vault: HealthCheck? {
        guard let status = Self.status(location.vault) else { return nil }
        guard status.st_mode & 0o022 == 0 else {
            return .warning(
                "vault", "Others can change \(described).",
                fix: "Fix it with `chmod go-w \(AdvisedCommand.path(location.vault))`.")
        }
        guard status.st_uid == geteuid() else {
            return .warning(
                "vault", "\(described) belongs to another user.",
                fix: geteuid() == 0
                    ? "Run this as that user, or with root's own HOME." : "Fix it with `chown`, as root.")
        }
        guard access(location.vault, R_OK) != 0 || access(location.vault, W_OK) == 0 || errno == EROFS else {
            return .warning(
                "vault", "You cannot write to \(described), so it can only be read.",
                fix: "To write, fix it with `chmod u+w \(AdvisedCommand.path(location.vault))`.")
        }
        return .ok("vault", described)
    }

    private var key: HealthCheck {
        if let command = location.keyCommand { return .ok("key", "the output of \(command.quoted)") }
        let described = "\(location.keyFile) (\(rules.key))"
        guard Self.status(location.keyFile) != nil || errno == EACCES else {
            if let identity = location.identityFile { return .ok("key", "the age identities in \(identity)") }
            return .warning(
                "key", "No key file exists at \(described).", fix: "See `vault help locations` for other locations.")
        }
        guard resolvedPath(location.keyFile).parentFolder != resolvedPath(location.vault).parentFolder else {
            return .warning(
                "key", "\(described) is next to the vault, so a copy of the folder contains both.",
                fix: "Move it, and use \(advised.keyFileSetting()).")
        }
        return .ok("key", described)
    }

    /// Checks a folder's mode, because users who can write to the folder can replace the files in it.
    private func folder(_ path: String) -> HealthCheck? {
        guard let status = Self.status(path) else { return nil }
        let isOfVault = path == resolvedPath(location.vault).parentFolder
        guard !isOfVault || access(path, W_OK) == 0 || errno == EROFS else {
            return .warning(
                "folder",
                "You cannot create files in \(path), so the vault cannot be compacted and its keys cannot be changed.",
                fix: "Check the folder's owner and mode.")
        }
        guard status.st_mode & 0o022 != 0, status.st_mode & S_ISVTX == 0 else { return nil }
        return .warning(
            "folder", "Others can replace the files in \(path).",
            fix: "Fix it with `chmod go-w \(AdvisedCommand.word(path))`.")
    }

    private var copies: HealthCheck? {
        let files = CopiesBeside(location.vault).files
        guard !files.isEmpty else { return nil }
        return .warning(
            "copies", "File synchronization has left other copies: \(files.joined(separator: ", ")).",
            fix: "Once the vault opens, merge them with `\(advised.merge(files))`.")
    }

    private var fileSystem: HealthCheck? {
        let files = PosixFileSystem()
        guard let folder = try? files.open(resolvedPath(location.vault).parentFolder, .folder) else { return nil }
        let volume = files.volume(of: folder)
        if volume.isRemote {
            return .warning(
                "file system", "The vault is on NFS, SMB or FUSE, where reads need a lock and changes appear late.",
                fix: "Keep it on a local disk, and merge copies (`vault help merge`).")
        }
        if volume.isInMemory {
            return .warning(
                "file system", "The vault is on an in-memory file system, so it will be lost at the next restart.",
                fix: "Keep it on a disk.")
        }
        if volume.isOverlay {
            return .warning(
                "file system", "The vault is in the writable layer of a container, and is deleted with it.",
                fix: "Keep it in a persistent volume.")
        }
        if volume.isReadOnly { return .ok("file system", "mounted read-only: the vault can only be read") }
        return .ok("file system", "local")
    }

    private var space: HealthCheck? {
        var status = statvfs()
        guard statvfs(resolvedPath(location.vault).parentFolder, &status) == 0 else { return nil }
        // The file system can report any numbers, so their product might overflow.
        let (bytes, isTooMuch) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        let free = isTooMuch ? Int.max : Int(clamping: bytes)
        // A compaction needs space for a second copy of the vault.
        let needed = Int(Self.status(location.vault)?.st_size ?? 0) + 16 << 20
        guard free < needed else { return .ok("space", "\(Quantity.size(free)) free") }
        return .warning(
            "space", "Only \(Quantity.size(free)) is free for the vault, which may need \(Quantity.size(needed)).",
            fix: "Free some space.")
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}
