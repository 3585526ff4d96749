import FoundationEssentials
import SealedLog
import Vault

/// Checks a vault that has been opened. Reads no values.
enum VaultChecks {
    /// - Parameter memory: the state of this machine's rollback memory before the vault was opened.
    static func all(
        _ keychain: Keychain, memory: Keychain.Maintenance.MemoryState, _ advised: AdvisedCommand
    ) throws -> [HealthCheck] {
        let information = try keychain.maintenance.information()
        return [
            .ok(
                "opening",
                "The key opens the vault. All parts read are intact; `\(advised.line("verify"))` checks the rest."),
            self.memory(memory, isKept: information.memoryIsKept, at: keychain.location.rollbackMemory),
            keysInMemory(information), upkeep(information, advised),
        ] + (try store(keychain, advised)) + information.problems.map { .warning("upkeep", $0) }
            + (try entries(keychain))
    }

    /// Checks the server of a vault in a database, and this machine's copy of the vault.
    private static func store(_ keychain: Keychain, _ advised: AdvisedCommand) throws -> [HealthCheck] {
        let found = try keychain.maintenance.storeFindings().map { finding -> HealthCheck in
            finding.fix.map { .warning(finding.name, finding.message, fix: $0) } ?? .ok(finding.name, finding.message)
        }
        return found + (keychain.copies.keptCopy.map { [copy($0, advised)] } ?? [])
            + keychain.copies.changesElsewhere.map { path in
                .warning(
                    "changes", "\(path) contains changes made without the server, for another URL.",
                    fix: "If they belong to this vault, store them with `\(advised.merge([path]))`; then delete the "
                        + "file.")
            }
            + keychain.copies.refusedChanges.map { path in
                .warning(
                    "changes", "Some changes made without the server were not stored. They are in \(path).",
                    fix: "If they belong to this vault, `\(advised.merge([path]))` lists them, and explains how to "
                        + "store them. Delete the file once you no longer need any of them.")
            }
    }

    private static func copy(_ copy: KeptCopy, _ advised: AdvisedCommand) -> HealthCheck {
        guard !copy.isComplete else { return .ok("copy", copy.line) }
        return .warning(
            "copy",
            "\(copy.line): without the server, values that this machine never read are missing, nothing can be stored, "
                + "and the server cannot be restored from this copy.",
            fix: "Complete it with `\(advised.line("verify"))`.")
    }

    private static func memory(_ state: Keychain.Maintenance.MemoryState, isKept: Bool, at path: String?) -> HealthCheck
    {
        let name = "rollback memory"
        switch state {
        case .kept where isKept: return .ok(name, "kept")
        case .torn:
            return .warning(name, "The rollback memory was damaged. Any rollback until now would have gone undetected.")
        case .none where isKept: return .ok(name, "This machine remembers the vault from now on.")
        case .kept, .none, .off:
            return .warning(
                name, "The rollback memory is not fully usable, so a rollback might not be detected.",
                // If the rollback memory's path is known, another line of the report says why the memory is unusable.
                fix: path == nil ? "Set HOME or XDG_STATE_HOME to a writable folder." : nil)
        }
    }

    private static func keysInMemory(_ information: Keychain.Maintenance.Information) -> HealthCheck {
        guard !information.keysAreLockedInMemory else { return .ok("keys in memory", "locked") }
        return .warning("keys in memory", "The keys are not locked, and may be swapped out.", fix: "Raise `ulimit -l`.")
    }

    private static func upkeep(_ information: Keychain.Maintenance.Information, _ advised: AdvisedCommand)
        -> HealthCheck
    {
        let dead = Quantity.size(information.deadBytes)
        guard information.deadBytes > max(1 << 20, information.liveBytes) else {
            return .ok("size", "\(Quantity.size(information.fileSize)), \(dead) of it outdated")
        }
        return .warning(
            "size", "\(dead) of the file is outdated data.", fix: "Free this space with `\(advised.line("compact"))`.")
    }

    private static func entries(_ keychain: Keychain) throws -> [HealthCheck] {
        let now = Date()
        let soon = now.addingTimeInterval(14 * 86_400)
        var newest = Date.distantPast
        var expiring = [String]()
        var listing = try keychain.listing()
        while let item = try listing.next() {
            newest = max(newest, item.modified)
            if let expires = item.expires, expires < soon { expiring.append(item.name) }
        }
        let clock = clock(at: now, newest: newest, ahead: keychain.maintenance.clockDifference)
        guard !expiring.isEmpty else { return [clock] }
        let names = expiring.prefix(10).map(StandardOutput.shown).joined(separator: ", ")
        let more = expiring.count > 10 ? " and \(Quantity.number(expiring.count - 10)) more" : ""
        return [clock, .warning("expiry", "These expire within 14 days: \(names)\(more).", fix: "Set new values.")]
    }

    /// - Parameters:
    ///   - newest: the time of the newest change to any entry.
    ///   - difference: how far this machine's clock is ahead of the server's, in milliseconds; nil if the clocks agree
    ///     or there is no server.
    static func clock(at now: Date, newest: Date, ahead difference: Int64?) -> HealthCheck {
        let here = "This machine's clock shows \(Timestamp.text(now))"
        if let difference, abs(difference) > ClockDifference.tolerance {
            return .warning(
                "clock", "\(here), \(ClockDifference.words(difference)) the server's clock.",
                fix: "Correct the wrong clock. Expiry, history and merges depend on it.")
        }
        // The clocks of machines that share a vault may normally differ by up to 300 seconds.
        guard newest > now.addingTimeInterval(300) else { return .ok("clock", Timestamp.text(now)) }
        return .warning(
            "clock", "\(here), but an entry was changed at \(Timestamp.text(newest)).",
            fix: "Correct the wrong clock. Expiry and history depend on it. Then set the entry again.")
    }
}

extension KeptCopy {
    var line: String {
        let time = Timestamp.text(Date(timeIntervalSince1970: Double(time) / 1000))
        let part = isComplete ? "complete" : "incomplete (\(Quantity.size(Int(clamping: missing))) missing)"
        return "\(StandardOutput.shown(path)), \(part), as of \(time)"
    }
}
