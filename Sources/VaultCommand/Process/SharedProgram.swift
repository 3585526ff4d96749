import CLinux
import CVaultCommand
import Glibc
import LinuxSystem
import Vault

/// `vault-shared`, the same command linked with the code for vaults in databases. `vault` has no network code.
enum SharedProgram {
    private static let name = "vault-shared"

    /// Replaces this process with `vault-shared`, passing on its arguments, if the vault is in a database. Call this
    /// before standard input is read.
    static func takeOver(_ invocation: Invocation) throws(CommandError) {
        guard invocation.databases == nil else { return }
        guard
            invocation.arguments.contains(where: VaultLocation.isURL) || invocation.knownLocation?.isInDatabase ?? false
        else { return }
        guard let path else {
            throw CommandError.unavailable(
                "The vault is in a database. Install `\(name)` next to `vault` or in the PATH, with "
                    + "`Tools/install --shared`.")
        }
        ProcessState.restore()
        throw .system("Cannot start \(path)", vault_execute_instead(path))
    }

    /// The path of `vault-shared`, next to this executable or, if it is not there, in the PATH.
    private static var path: String? {
        let own = vault_program_path().map { resolvedPath(String(cString: $0)) }
        let beside = own.map { "\($0.parentFolder)/\(name)" }
        if let beside, access(beside, X_OK) == 0 { return beside }
        return OtherProgram.path(of: name)
    }
}

struct Pipe: ~Copyable {
    let reading: FileDescriptor
    let writing: FileDescriptor

    init() throws(CommandError) {
        var ends: [Int32] = [-1, -1]
        guard vault_pipe(&ends) == 0 else { throw .system("Cannot open a pipe", errno) }
        reading = FileDescriptor(owning: ends[0])
        writing = FileDescriptor(owning: ends[1])
    }
}

/// Closes a descriptor by ending its lifetime.
func discard(_ descriptor: consuming FileDescriptor) {}

/// Returns the value of an environment variable, or nil if it is unset or empty.
func environmentVariable(_ name: String) -> String? {
    guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
    return value
}
