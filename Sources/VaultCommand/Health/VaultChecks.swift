import FoundationEssentials
import SealedLog
import Vault

/// Looks at an opened vault. No value is opened.
enum VaultChecks {
    /// - Parameter memory: what this machine remembered before the vault was read.
    static func all(
        _ keychain: Keychain, memory: Keychain.MemoryState, _ advised: AdvisedCommand
    ) throws -> [HealthCheck] {
        let information = try keychain.information()
        return [
            .ok("opening", "The key opens the vault, and what was read of it is intact. `vault verify` reads all."),
            self.memory(memory, isKept: information.memoryIsKept), keysInMemory(information), upkeep(information),
        ] + (try store(keychain, advised)) + information.problems.map { .warning("upkeep", $0) }
            + (try entries(keychain))
    }

    /// Of a vault in a database: the server, and what this machine has kept.
    private static func store(_ keychain: Keychain, _ advised: AdvisedCommand) throws -> [HealthCheck] {
        let found = try keychain.storeFindings().map { finding -> HealthCheck in
            finding.fix.map { .warning(finding.name, finding.message, fix: $0) } ?? .ok(finding.name, finding.message)
        }
        return found + (keychain.keptCopy.map { [copy($0, advised)] } ?? [])
            + keychain.changesElsewhere.map { path in
                .warning(
                    "changes", "What was changed while a server was away waits for another URL, in \(path).",
                    fix: "If it is of this vault, `\(advised.merge([path]))` takes it over; then delete the file.")
            }
            + keychain.refusedChanges.map { path in
                .warning(
                    "changes", "Some of what was changed while a server was away was not taken over, from \(path).",
                    fix: "If it is of this vault, `\(advised.merge([path]))` says what, and how to take it over. "
                        + "Delete the file once nothing of it is needed.")
            }
    }

    private static func copy(_ copy: KeptCopy, _ advised: AdvisedCommand) -> HealthCheck {
        guard !copy.isComplete else { return .ok("copy", copy.words) }
        return .warning(
            "copy",
            "\(copy.words): without the server, what was never read here is missing, nothing can be stored, and the "
                + "server cannot be restored from here.", fix: "`\(advised.line("verify"))` completes it.")
    }

    private static func memory(_ state: Keychain.MemoryState, isKept: Bool) -> HealthCheck {
        let name = "rollback memory"
        switch state {
        case .kept where isKept: return .ok(name, "kept")
        case .torn:
            return .warning(name, "It was damaged: until now, an older vault would not have been noticed here.")
        case .none where isKept: return .ok(name, "This machine remembers the vault from now on.")
        case .kept, .none, .off:
            return .warning(
                name, "It cannot be kept: an older vault would not be noticed.",
                fix: "Set HOME or XDG_STATE_HOME to a folder that you can write to.")
        }
    }

    private static func keysInMemory(_ information: Keychain.Information) -> HealthCheck {
        guard !information.keysAreLockedInMemory else { return .ok("keys in memory", "locked") }
        return .warning("keys in memory", "They are not locked, and may be swapped out.", fix: "Raise `ulimit -l`.")
    }

    private static func upkeep(_ information: Keychain.Information) -> HealthCheck {
        let dead = Quantity.size(information.deadBytes)
        guard information.deadBytes > max(1 << 20, information.liveBytes) else {
            return .ok("size", "\(Quantity.size(information.fileSize)), \(dead) of it outdated")
        }
        return .warning("size", "\(dead) of the file are outdated.", fix: "`vault compact` frees them.")
    }

    private static func entries(_ keychain: Keychain) throws -> [HealthCheck] {
        let now = Date()
        let soon = now.addingTimeInterval(14 * 86_400)
        var (newest, expiring) = (Date.distantPast, [String]())
        var listing = try keychain.listing()
        while let item = try listing.next() {
            newest = max(newest, item.modified)
            if let expires = item.expires, expires < soon { expiring.append(item.name) }
        }
        let clock = clock(at: now, newest: newest, ahead: keychain.clockDifference)
        guard !expiring.isEmpty else { return [clock] }
        let names = expiring.prefix(10).map(StandardOutput.shown).joined(separator: ", ")
        let more = expiring.count > 10 ? " and \(Quantity.number(expiring.count - 10)) more" : ""
        return [clock, .warning("expiry", "These expire within 14 days: \(names)\(more).", fix: "Set new values.")]
    }

    /// - Parameters:
    ///   - newest: when an entry was changed last.
    ///   - difference: how far this machine's clock is ahead of the server's, in milliseconds; nil if there is none.
    static func clock(at now: Date, newest: Date, ahead difference: Int64?) -> HealthCheck {
        let here = "It is \(Timestamp.text(now)) here"
        if let difference, abs(difference) > ClockDifference.tolerance {
            return .warning(
                "clock", "\(here), \(ClockDifference.words(difference)) the server's clock.",
                fix: "Set right the one that is wrong: expiry, history and merges follow it.")
        }
        // Machines that share a vault differ by some seconds.
        guard newest > now.addingTimeInterval(300) else { return .ok("clock", Timestamp.text(now)) }
        return .warning(
            "clock", "\(here), and an entry was changed at \(Timestamp.text(newest)).",
            fix: "Set right the clock that is wrong: expiry and history follow it. Then set the entry again.")
    }
}

extension KeptCopy {
    /// What this machine has kept of a vault in a database.
    var words: String {
        let time = Timestamp.text(Date(timeIntervalSince1970: Double(time) / 1000))
        let part = isComplete ? "complete" : "in part (\(Quantity.size(Int(clamping: missing))) missing)"
        return "\(StandardOutput.shown(path)), \(part), as of \(time)"
    }
}
