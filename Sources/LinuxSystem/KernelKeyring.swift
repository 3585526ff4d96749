private import CLinux
private import Glibc

/// Small secrets in the kernel's memory, each with a time limit; see keyrings(7).
///
/// A secret is a key of type `user`, which is never swapped out. It outlives the process that stored it, but not a
/// restart of the machine. Every operation consists of a few system calls of about a microsecond.
///
/// A key becomes visible only together with its time limit. It is created in the calling thread's keyring, which exists
/// until the thread ends. Once complete, the key is linked to its target keyring, where it atomically replaces an
/// earlier key with the same description. Keys are never writable, because an update in place would clear the time
/// limit. If the process died before setting the limit again, the secret would remain forever.
///
/// The session's keyring may lack a link to the user's, as it often does under `su` and `sudo`, in containers and in
/// services. Calls that require possession of a key then fail even for the key's owner, so this type avoids them.
package enum KernelKeyring {
    /// The processes that can read a secret.
    package enum Scope: Hashable, Sendable, CaseIterable {
        /// Processes with this login's session keyring. Processes without one share the user's default session keyring.
        case session
        /// All processes of this user. Older kernels drop the user's keyring when the user's last process ends.
        case user
    }

    /// The maximum size of a secret in bytes.
    package static let maximumSize = 32_767
    /// The maximum size of a description in bytes.
    package static let maximumDescriptionSize = 4_095

    /// Stores a secret until its time limit expires, and replaces an earlier secret with the same description.
    ///
    /// If the call fails, the earlier secret is unchanged. During the call, both count against the user's quota.
    ///
    /// - Parameters:
    ///   - secret: 1 to ``maximumSize`` bytes.
    ///   - description: a string that other processes may see. By convention, it begins with the program's name.
    ///   - seconds: the time limit, at least 1. Afterwards the kernel refuses reads. It wipes the secret minutes later.
    package static func store(
        _ secret: UnsafeRawBufferPointer, as description: String, timeout seconds: UInt32, scope: Scope
    ) throws(SystemError) {
        try check(description, storing)
        // The kernel would take 0 seconds to mean no time limit.
        guard (1...maximumSize).contains(secret.count), seconds > 0 else { throw SystemError(EINVAL, storing) }
        let keyring = try scope.keyring(storing)
        let key = try checked(vault_key_add(description, secret.baseAddress, UInt64(secret.count)), storing)
        // The thread's keyring drops its link to the key. If the key has no other link, the kernel wipes it.
        defer { _ = vault_key_forget(key) }
        _ = try checked(vault_key_set_timeout(key, seconds), storing)
        _ = try checked(vault_key_set_permissions(key, scope.permissions), storing)
        _ = try checked(vault_key_link(key, keyring), storing)
    }

    /// Reads the secret into a buffer, and returns the secret's size; nil if there is no such secret or it has expired.
    /// The session's secret takes precedence over the user's.
    ///
    /// - Throws: `EMSGSIZE` if the secret is larger than the buffer.
    package static func read(
        _ description: String, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int? {
        try check(description, reading)
        for scope in Scope.allCases {
            if let count = try read(description, in: scope, into: buffer) { return count }
        }
        return nil
    }

    private static func read(
        _ description: String, in scope: Scope, into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int? {
        var former: Int32?
        while true {
            guard let keyring = try unlessGone(scope.keyring(reading)),
                let key = try unlessGone(checked(vault_key_search(keyring, description), reading)), key != former
            else { return nil }
            if let size = try unlessGone(read(key, into: buffer, reading)) {
                guard size <= buffer.count else { throw SystemError(EMSGSIZE, reading) }
                return size
            }
            // Another process may have replaced the key since the search. A new search then finds the new key.
            former = key
        }
    }

    /// Throws if this process cannot store secrets in the kernel, as is common in containers.
    package static func check() throws(SystemError) {
        _ = try Scope.user.keyring(storing)
        let secret: [UInt8] = [0]
        _ = vault_key_forget(try checked(vault_key_add("vault:check", secret, 1), storing))
    }

    /// Removes a secret from both scopes. Returns false if there was no such secret.
    package static func remove(_ description: String) throws(SystemError) -> Bool {
        try check(description, removing)
        return try removeAll { $0.elementsEqual(description.utf8) } > 0
    }

    /// Removes from both scopes all secrets whose descriptions have this prefix. Returns the number of removed secrets.
    package static func removeAll(prefix: String) throws(SystemError) -> Int {
        try removeAll { $0.starts(with: prefix.utf8) }
    }

    private static func removeAll(where isWanted: (ArraySlice<UInt8>) -> Bool) throws(SystemError) -> Int {
        var count = 0
        for scope in Scope.allCases {
            guard let keyring = try unlessGone(scope.keyring(removing)), let keys = try unlessGone(keys(in: keyring))
            else { continue }
            for key in keys {
                guard let description = try description(of: key), isWanted(description) else { continue }
                if try end(key, in: keyring) { count += 1 }
            }
        }
        return count
    }

    /// Immediately makes a key unreadable, and removes it. Returns false if it was already unreadable.
    private static func end(_ key: Int32, in keyring: Int32) throws(SystemError) -> Bool {
        if vault_key_invalidate(key) == 0 { return true }
        if isGone(errno) { return false }
        guard try unlessGone(checked(vault_key_revoke(key), removing)) != nil else { return false }
        _ = vault_key_unlink(key, keyring)
        return true
    }
}

// MARK: - Keyrings and keys

extension KernelKeyring.Scope {
    /// Returns the keyring's serial number. The kernel's special number -3 is not used: a process that has no session
    /// keyring would start a new session, and the secret would be lost when the process exits.
    fileprivate func keyring(_ call: String) throws(SystemError) -> Int32 {
        switch self {
        case .session: try checked(vault_keyring_of_session(), call)
        case .user: try checked(vault_keyring_of_user(), call)
        }
    }

    /// The permissions of a key, with one byte each for its possessor, user, group and others. 0x3b allows everything
    /// except writing. A session's key can only be used by its possessors, not by other processes of the user.
    fileprivate var permissions: UInt32 {
        switch self {
        case .session: 0x3b00_0000
        case .user: 0x3b3b_0000
        }
    }
}

extension KernelKeyring {
    // Values for ``SystemError/call``. In messages, ``sentence(for:)`` puts "Cannot" before them.
    private static let storing = "store a secret in the kernel's keyring"
    private static let reading = "read a secret from the kernel's keyring"
    private static let removing = "remove a secret from the kernel's keyring"

    private static func check(_ description: String, _ call: String) throws(SystemError) {
        guard (1...maximumDescriptionSize).contains(description.utf8.count), !description.utf8.contains(0) else {
            throw SystemError(EINVAL, call)
        }
    }

    /// Reads a key's secret into a buffer. Returns the secret's size, which may exceed the buffer's size.
    private static func read(
        _ key: Int32, into buffer: UnsafeMutableRawBufferPointer, _ call: String
    ) throws(SystemError) -> Int {
        Int(try checked(vault_key_read(key, buffer.baseAddress, UInt64(buffer.count)), call))
    }

    private static func keys(in keyring: Int32) throws(SystemError) -> [Int32] {
        var bytes: [UInt8] = []
        while true {
            let size = try bytes.withMutableRawBytes { (bytes) throws(SystemError) in
                try read(keyring, into: bytes, removing)
            }
            if size <= bytes.count {
                return bytes.withRawBytes { bytes in
                    stride(from: 0, to: size - 3, by: 4).map { bytes.loadUnaligned(fromByteOffset: $0, as: Int32.self) }
                }
            }
            // The list did not fit. The larger buffer also has room for keys that other processes may add.
            bytes = [UInt8](repeating: 0, count: size + 256)
        }
    }

    /// Returns a key's description; nil if the key has another type, does not exist, or is not visible to this process.
    private static func description(of key: Int32) throws(SystemError) -> ArraySlice<UInt8>? {
        // The kernel returns text such as "user;0;0;3b3b0000;", followed by the key's description and a zero byte.
        var text = [UInt8](repeating: 0, count: maximumDescriptionSize + 64)
        let size: Int
        do {
            size = try text.withMutableRawBytes { (text) throws(SystemError) in
                Int(try checked(vault_key_describe(key, text.baseAddress, UInt64(text.count)), removing))
            }
        } catch {
            guard isGone(error.number) || error.number == EACCES else { throw error }
            return nil
        }
        let fields = text.prefix(size).dropLast().split(
            separator: UInt8(ascii: ";"), maxSplits: 4, omittingEmptySubsequences: false)
        guard size <= text.count, fields.count == 5, fields[0].elementsEqual("user".utf8) else { return nil }
        return fields[4]
    }
}

/// Returns the result of a system call. Throws if it is an error.
private func checked<Number: SignedInteger>(_ result: Number, _ call: String) throws(SystemError) -> Number {
    guard result >= 0 else { throw SystemError(errno, call) }
    return result
}

/// Returns whether an error number means that a key or keyring does not exist, has expired or has been revoked.
private func isGone(_ number: Int32) -> Bool { [ENOKEY, EKEYEXPIRED, EKEYREVOKED].contains(number) }

private func unlessGone<Result>(_ call: @autoclosure () throws(SystemError) -> Result) throws(SystemError) -> Result? {
    do { return try call() } catch {
        guard isGone(error.number) else { throw error }
        return nil
    }
}

// MARK: - Refusals

extension KernelKeyring {
    /// Returns a message for a user whose secret could not be stored or read. It states what failed and what to do.
    package static func sentence(for error: SystemError) -> String {
        let advice =
            switch error.number {
            case ENOSYS, EPERM:
                "A seccomp profile forbids the kernel's keyrings, as in most containers, or the kernel has none. "
                    + "Allow the system calls add_key and keyctl in the profile."
            case EACCES: "This session has no access to the user's keyring. Log in again, or run `keyctl link @u @s`."
            case EDQUOT:
                "The user's quota for keys is used up. Remove keys with keyctl, or raise the limits in "
                    + "/proc/sys/kernel/keys (maxkeys and maxbytes, for root root_maxkeys and root_maxbytes)."
            case ENOKEY, EKEYEXPIRED, EKEYREVOKED: "This session's keyring no longer exists. Log in again."
            case EINVAL: "A secret has 1 to 32,767 bytes, a description 1 to 4,095, and a time limit at least 1 second."
            case EMSGSIZE: "The secret is larger than expected. Store it again."
            default: "\(SystemError.message(for: error.number))."
            }
        return "Cannot \(error.call). \(advice)"
    }
}
