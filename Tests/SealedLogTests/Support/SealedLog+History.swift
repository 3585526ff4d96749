import LinuxSystem
import Sealing
import TestSupport

@testable import SealedFormat
@testable import SealedLog

/// A value that a name has or had, and when it was set.
struct TimedText: Hashable {
    let time: UInt64
    let text: String
}

/// What a vault holds of a name, by value: present or not, with all that it had before, newest first.
struct NameState: Hashable {
    let modified: UInt64
    let created: UInt64?
    let present: String?
    let attributes: [Attribute]
    let earlier: [TimedText]
}

extension SealedLog {
    /// Opens everything that the vault holds, tombstones and histories too.
    func states() throws -> [String: NameState] {
        let view = try read { (view) throws(LogError) in view }
        var merge = try view.entries()
        var states = [String: NameState]()
        var opener = try ValueOpener(of: view.store, keys: view.keys)
        while let entry = try merge.next() {
            states[entry.name.text] = NameState(
                modified: entry.modified, created: entry.content?.created,
                present: try entry.content.map { try opener.text($0.current) },
                attributes: entry.content?.attributes ?? [],
                earlier: try entry.earlier.map { TimedText(time: $0.modified, text: try opener.text($0.version)) })
        }
        return states
    }

    /// The values that a name had before, newest first.
    func earlierTexts(_ name: String) throws -> [String] { try states()[name]?.earlier.map(\.text) ?? [] }

    /// The same of all names that had any.
    func earlierTextsByName() throws -> [String: [String]] {
        try states().mapValues { $0.earlier.map(\.text) }.filter { !$0.value.isEmpty }
    }

    /// All entries, tombstones too.
    func entriesWithHistory() throws -> [Entry] {
        let view = try read { (view) throws(LogError) in view }
        var merge = try view.entries()
        var entries = [Entry]()
        while let entry = try merge.next() { entries.append(entry) }
        return entries
    }

    /// The same, without what is of this file alone: where their boxes are, which record has set them, and when they
    /// were joined with another copy's.
    func entriesWithoutOffsets() throws -> [Entry] {
        try entriesWithHistory().map { entry in
            var entry = entry
            entry.forEachVersion { $0.offset = 0 }
            entry.sequence = 0
            entry.joined = nil
            return entry
        }
    }

    /// A change that makes an earlier version the present one: that with an index in the history.
    func restoring(_ name: String, _ index: Int) throws -> Change {
        guard let entry = try history(.sample(name)), entry.earlier.indices.contains(index),
            let opened = try openedVersion(of: entry.name, entry.earlier[index].version.nonce)
        else { throw LogError(.conflict) }
        return Change(entry.name, .anything, .restore(opened))
    }

    /// A change that removes a name with its history.
    func forgetting(_ name: String) throws -> Change {
        Change(try .sample(name), .anything, .remove, forgets: true)
    }

    /// Makes changes as they come, and waits for the compaction that they make due.
    func make(changes: [Change]) throws {
        try commit(changes, timeout: SealedLog.patience)
        finishUpkeep()
    }

    /// Generates a new data key for a vault that only one key file opens.
    @discardableResult
    func rotate(
        _ renew: (KeySlot) throws(LogError) -> SlotTable.Renewal = { (_) throws(LogError) in
            throw LogError(.keyWrong)
        }
    ) throws -> CompactionReport {
        try changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in try table.rotate(renew) }
    }
}

extension ValueOpener {
    fileprivate mutating func text(_ version: StoredVersion) throws -> String {
        var text = ""
        try open(version) { (value) throws(SealingError) in
            text = String(decoding: value.prefix(version.length), as: UTF8.self)
        }
        return text
    }
}
