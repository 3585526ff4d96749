import LinuxSystem
import SealedLog
import Vault

/// A file that a command writes atomically for the user.
enum NewFile {
    /// Writes a new file with mode 0600. Throws if the file exists.
    static func write(_ bytes: [UInt8], to path: String) throws(CommandError) {
        try bytes.withRawBytes { (bytes) throws(CommandError) in try write(bytes, to: path) }
    }

    /// Writes a new file directly from a buffer, so that a secret stays in guarded memory.
    static func write(_ bytes: UnsafeRawBufferPointer, to path: String) throws(CommandError) {
        try write(bytes, to: path, mode: 0o600, replacing: false)
    }

    static func write(_ bytes: borrowing SecretBytes, to path: String, replacing: Bool) throws(CommandError) {
        try bytes.withUnsafeBytes { (bytes) throws(CommandError) in
            try write(bytes, to: path, mode: 0o600, replacing: replacing)
        }
    }

    static func write(_ bytes: [UInt8], to path: String, mode: UInt32, replacing: Bool) throws(CommandError) {
        try bytes.withRawBytes { (bytes) throws(CommandError) in
            try write(bytes, to: path, mode: mode, replacing: replacing)
        }
    }

    /// Throws if this process runs as root and the path contains another user's symbolic link.
    static func checkLinks(in path: String) throws(CommandError) {
        do throws(VaultError) { try WrittenPath.checkLinks(in: path) } catch {
            throw CommandError(error, advising: AdvisedCommand())
        }
    }

    /// Throws if root would create or come to own another program's file in another user's folder.
    ///
    /// - Parameter isReplaced: whether the other program replaces the file, which changes its owner.
    static func checkParentFolder(of path: String, isReplaced: Bool = false) throws(CommandError) {
        do throws(VaultError) { try WrittenPath.checkParentFolder(of: path, isReplaced: isReplaced) } catch {
            throw CommandError(error, advising: AdvisedCommand())
        }
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, to path: String, mode: UInt32, replacing: Bool
    ) throws(CommandError) {
        try checkLinks(in: path)
        let files = PosixFileSystem()
        let path = resolvedPath(path)
        // Overwriting a vault is always a mistake, and the old vault could not be recovered.
        guard !replacing || SealedLog.vaultID(at: FileLocation(path, in: files)) == nil else {
            throw .refused("\(path) is a vault; it was left alone.")
        }
        do throws(SystemError) {
            let file = try WholeFile(path, in: files).replace(with: bytes, replacing: replacing)
            try files.setMode(file, mode)
        } catch {
            guard !error.isExisting else { throw .refused("\(path) already exists; it was left alone.") }
            throw .system("\(path) could not be written", error.number)
        }
    }

    /// Throws if git, run by root, would write another user's configuration. git follows symbolic links, and root would
    /// own the new file.
    static func checkGitConfiguration(isGlobal: Bool) throws(CommandError) {
        guard isGlobal else {
            return try checkParentFolder(
                of: OtherProgram.run(["git", "rev-parse", "--git-path", "config"]), isReplaced: true)
        }
        try checkParentFolder(of: OtherProgram.path(".gitconfig", orIn: "GIT_CONFIG_GLOBAL"), isReplaced: true)
        // If there is no .gitconfig, git writes the file `git/config` in this folder.
        guard
            let folder = environmentVariable("XDG_CONFIG_HOME") ?? environmentVariable("HOME").map({ "\($0)/.config" })
        else { return }
        let path = "\(folder)/git/config"
        if (try? PosixFileSystem().status(at: path)) != nil { try checkParentFolder(of: path, isReplaced: true) }
    }

    /// Throws if kubectl, run by root, would write another user's configuration.
    static func checkKubeconfig() throws(CommandError) {
        let listed = environmentVariable("KUBECONFIG")?.split(separator: ":").map { absolutePath(String($0)) } ?? []
        let paths = listed.isEmpty ? [try OtherProgram.path(".kube/config", orIn: "KUBECONFIG")] : listed
        for path in paths { try checkParentFolder(of: path, isReplaced: true) }
    }
}
