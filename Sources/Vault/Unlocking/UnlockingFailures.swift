import SealedLog

/// Why the ways to open a vault have failed, in the order in which they were tried, and the message about it.
struct UnlockingFailures {
    private var failures: [LogError] = []
    /// The error that a prompt has thrown.
    var refusal: VaultError?

    /// The failures that the user can remedy: by a passphrase, an identity file, consent to a command.
    private static let wanted: [LogError.Code] = [.passphraseNeeded, .commandUntrusted, .identityMissing]

    mutating func add(_ failure: LogError) { if !failures.contains(failure) { failures.append(failure) } }

    /// The failure that is reported first: that of a prompt, else the first one of a key that was tried, else a wanted
    /// one. A key file that is just not there was hardly tried.
    var first: LogError {
        let tried = failures.filter { !UnlockingFailures.wanted.contains($0.code) }
        let told =
            tried.first { [.passphraseWrong, .identityRemoved].contains($0.code) }
            ?? tried.first { $0.code != .keyMissing } ?? tried.first
        return told ?? wantedFailures.first ?? LogError(.keyWrong)
    }

    private var wantedFailures: [LogError] {
        UnlockingFailures.wanted.flatMap { code in failures.filter { $0.code == code } }
    }

    func has(_ code: LogError.Code) -> Bool { failures.contains { $0.code == code } }

    /// The problem of the key file, unless it is only missing or another vault's.
    var ofKeyFile: LogError? {
        let codes: [LogError.Code] = [.keyUnreadable, .keyExposed, .keyShared, .keyDamaged, .keyUnsuitable]
        return failures.first { codes.contains($0.code) }
    }

    /// Returns the failure that is reported first, and the other ways to open the vault.
    func explanation(_ location: VaultLocation) -> VaultError {
        let first = first
        var error = VaultError(first, location)
        for other in wantedFailures where other != first && first.code != .passphraseWrong {
            error = error.followed(by: VaultError.alternative(other, location), VaultError.causes[other.code])
        }
        return error
    }
}
