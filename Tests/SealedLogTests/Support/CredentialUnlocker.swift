@testable import SealedFormat

/// Opens a vault by one credential.
struct CredentialUnlocker: Unlocker {
    private let credential: () throws(LogError) -> Credential
    private var isUsed = false

    init(_ credential: @escaping () throws(LogError) -> Credential) { self.credential = credential }

    mutating func next(for vault: LockedVault) throws(LogError) -> Credential? {
        guard !isUsed else { return nil }
        isUsed = true
        return try credential()
    }

    mutating func restart() { isUsed = false }

    var failure: LogError { LogError(.keyWrong) }

    mutating func check(_ vault: UnlockedVault) {}

    func remember(_ vault: UnlockedVault, behind flush: () throws(LogError) -> Void) {}
}
