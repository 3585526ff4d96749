import Sealing

/// The member changes, each one after the changes that its author knew; see Format.md, "Members".
///
/// The history, not a clock, decides which changes count, because two copies may change the members independently.
package struct MemberHistory: Sendable {
    package private(set) var records: [MemberRecord] = []
    /// The index of each member change in ``records``, keyed by the ID of the change.
    private var indices: [Authenticator: Int] = [:]
    /// For each member change, the indices of the changes that its author knew.
    private var known: [IndexSet1024] = []
    /// The devices by ID. If two devices have the same ID, only the first one is listed.
    private var devices: [DeviceID: Device] = [:]

    /// Returns the history with its member changes in an order that is the same in every copy of the vault.
    func sorted(in vaultID: [UInt8]) throws(LogError) -> MemberHistory {
        // A change has more predecessors than each of its predecessors, so this order puts the predecessors first.
        let order = records.indices.sorted { left, right in
            let less = known[left].count
            let more = known[right].count
            if less != more { return less < more }
            return records[left].id.bytes.lexicographicallyPrecedes(records[right].id.bytes)
        }
        var sorted = MemberHistory()
        for index in order { try sorted.append(records[index], in: vaultID) }
        return sorted
    }

    subscript(index: Int) -> MemberRecord { records[index] }

    func knows(_ index: Int, _ other: Int) -> Bool { known[index].contains(other) }

    /// Returns whether a member change is one of `others`, or is followed by one of `others`.
    func isIncluded(_ index: Int, by others: [Authenticator]) -> Bool {
        others.compactMap { indices[$0] }.contains { $0 == index || knows($0, index) }
    }

    func device(_ id: DeviceID) -> Device? { devices[id] }

    /// Returns whether a device is the first one with its ID. Any other device with the same ID is ignored.
    func counts(_ device: Device) -> Bool { devices[device.id] == device }

    func contains(_ id: Authenticator) -> Bool { indices[id] != nil }

    /// The IDs of the member changes that no other change follows. The author of the next change knows all of these.
    package var heads: [Authenticator] {
        var followed = IndexSet1024()
        for known in known { followed.formUnion(known) }
        return records.indices.filter { !followed.contains($0) }.map { records[$0].id }
    }

    /// Appends a member change.
    ///
    /// - Throws: `damaged` if the change is a duplicate, follows a change that is missing, or was not signed by its
    ///   author; `invalid` if the history already has `MemberChange.limit` changes.
    mutating func append(_ record: MemberRecord, in vaultID: [UInt8]) throws(LogError) {
        guard records.count < MemberChange.limit else {
            throw LogError(.invalid, "the members have been changed \(MemberChange.limit) times, which is the maximum")
        }
        guard !contains(record.id), record.change.known.isEmpty == records.isEmpty else {
            throw .damaged("a repeated or misplaced member change")
        }
        var before = IndexSet1024()
        for id in record.change.known {
            guard let index = indices[id] else { throw .damaged("a member change that follows an unknown one") }
            before.formUnion(known[index])
            before.insert(index)
        }
        let change = record.change
        let authorship = record.authorship
        guard let author = devices[authorship.author] ?? (record.addsItsAuthor ? change.device : nil),
            authorship.isValid(for: Statement(change, in: vaultID), by: author)
        else { throw .damaged("a member change whose signature is invalid") }
        devices[change.device.id] = devices[change.device.id] ?? change.device
        indices[record.id] = records.count
        records.append(record)
        known.append(before)
    }

    /// The indices of the member changes that count. A change counts if its author was a member according to the
    /// changes that the author knew. As an exception, an addition does not count if there is a valid concurrent removal
    /// of its author. Two changes are concurrent if neither follows the other.
    var counting: [Int] {
        var valid = IndexSet1024()
        for index in records.indices where mayAuthor(index, by: valid) { valid.insert(index) }
        var counting = IndexSet1024()
        for index in records.indices
        where valid.contains(index) && mayAuthor(index, by: counting) && !isRevoked(index, by: valid) {
            counting.insert(index)
        }
        return records.indices.filter(counting.contains)
    }

    /// Returns whether a member change was permitted, judged by the changes in `holding` that its author knew: the
    /// author was a member after them, or they left no member and the author added itself.
    private func mayAuthor(_ index: Int, by holding: IndexSet1024) -> Bool {
        let record = records[index]
        let members = members(by: known[index].intersection(holding))
        return members.contains(record.authorship.author) || record.addsItsAuthor && members.isEmpty
    }

    /// Returns the IDs of the members after the changes in `holding`. A removal revokes only additions its author knew.
    private func members(by holding: IndexSet1024) -> Set<DeviceID> {
        var additions: [DeviceID: [Int]] = [:]
        for index in records.indices where holding.contains(index) {
            let device = records[index].change.device
            guard counts(device) else { continue }
            if records[index].change.isRemoval {
                additions[device.id]?.removeAll { known[index].contains($0) }
            } else {
                additions[device.id, default: []].append(index)
            }
        }
        return Set(additions.filter { !$0.value.isEmpty }.keys)
    }

    private func isRevoked(_ index: Int, by valid: IndexSet1024) -> Bool {
        let record = records[index]
        guard !record.change.isRemoval else { return false }
        return records.indices.contains { other in
            records[other].change.isRemoval && records[other].change.device.id == record.authorship.author
                && valid.contains(other) && !known[index].contains(other) && !known[other].contains(index)
        }
    }
}

private struct IndexSet1024: Sendable {
    private var words = [UInt64](repeating: 0, count: MemberChange.limit / 64)

    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    func contains(_ number: Int) -> Bool { words[number / 64] >> UInt64(number % 64) & 1 == 1 }

    mutating func insert(_ number: Int) { words[number / 64] |= 1 << UInt64(number % 64) }

    mutating func formUnion(_ other: IndexSet1024) { for index in words.indices { words[index] |= other.words[index] } }

    func intersection(_ other: IndexSet1024) -> IndexSet1024 {
        var common = self
        for index in words.indices { common.words[index] &= other.words[index] }
        return common
    }
}
