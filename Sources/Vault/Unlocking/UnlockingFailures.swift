import SealedFormat

/// The failed attempts to open a vault, in order, and the message about them.
struct UnlockingFailures {
    private var failures: [LogError] = []
    /// The error that a prompt has thrown.
    var refusal: VaultError?

    /// The failures that a user can remedy with a passphrase, an identity file, or consent to a command.
    private static let wanted: [LogError.Code] = [.passphraseNeeded, .commandUntrusted, .identityMissing]

    mutating func add(_ failure: LogError) { if !failures.contains(failure) { failures.append(failure) } }

    /// The failure to report first. The order of precedence is: a wrong passphrase or a removed identity; another
    /// failure of a key that was tried; a missing key file; a failure that the user can remedy.
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

    /// The problem with the key file; nil if the file is only missing or belongs to another vault.
    var ofKeyFile: LogError? {
        let codes: [LogError.Code] = [.keyUnreadable, .keyExposed, .keyShared, .keyDamaged, .keyUnsuitable]
        return failures.first { codes.contains($0.code) }
    }

    /// Returns the first failure to report, followed by other ways to open the vault.
    func explanation(_ location: VaultLocation) -> VaultError {
        let first = first
        var error = VaultError(first, location)
        for other in wantedFailures where other != first && first.code != .passphraseWrong {
            error = error.followed(by: VaultError.alternative(other, location), VaultError.causes[other.code])
        }
        return error
    }
}
