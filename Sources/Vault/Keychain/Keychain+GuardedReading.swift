private import Glibc
import LinuxSystem
package import SealedLog

// The one way in which a value is read for others than the program itself: a person, another program, a server.

extension Keychain {
    /// Returns the value of an entry; nil if there is none. It keeps to the entry's policy and that of the login whose
    /// field it is, and records the read in the access log before it returns the value, also one that it refuses. If
    /// the log is on and cannot be written, nothing is read.
    ///
    /// - Parameters:
    ///   - reader: the name of a command, or of what else reads for others: a policy may name it.
    ///   - check: what else its attributes have to say.
    ///   - access: what is recorded.
    /// - Throws: `guarded` by the policy; what `check` throws; as ``get(_:)``.
    package func read(
        _ name: String, for reader: String,
        check: (_ attributes: [String: String]) throws(VaultError) -> Void = { _ in }, access: () -> Access
    ) throws(VaultError) -> SealableValue? {
        let login = Login.split(name)?.login
        guard let found = try guardedValue(name, of: login) else { return nil }
        do throws(VaultError) {
            try ReadingPolicy.check(found.attributes, of: name, for: reader)
            if let login {
                try ReadingPolicy.check(found.loginAttributes, of: login, isThere: found.isLoginPresent, for: reader)
            }
            try check(found.attributes)
        } catch {
            // Nothing is given out, whether that can be recorded or not.
            if found.isAccessLogged { try? recordAccess { access().refused } }
            throw error
        }
        if found.isAccessLogged { try recordAccess(access) }
        return found.takeValue()
    }
}

extension Access {
    /// Describes a read by this process, which another one has started; or, with an empty name, a switch of the log.
    ///
    /// - Parameters:
    ///   - command: the words of the command, or what else reads.
    ///   - program: the program that is started with the value.
    package init(to name: String, by command: String, starting program: String? = nil) {
        let parent = getppid()
        self.init(
            name: name, command: command, program: LinuxSystem.program(ofProcess: parent) ?? "",
            process: UInt64(clamping: parent), user: UInt64(getuid()), started: program ?? "")
    }
}
