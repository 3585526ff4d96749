import Sealing

/// The changes of the members in an order in which each follows those that its author knew; Format.md, "Members".
///
/// It decides which of them count. No clock does: two copies may have changed the members apart from each other.
struct MemberHistory: Sendable {
    private(set) var records: [MemberRecord] = []
    /// By their ids, where they are among ``records``.
    private var indices: [Authenticator: Int] = [:]
    /// What each change's author knew, as indices.
    private var known: [IndexSet1024] = []
    /// The device of each id: of two with one id, the first one that is named.
    private var devices: [DeviceID: Device] = [:]

    /// Returns the same changes in an order that is the same in all copies.
    func sorted(in vaultID: [UInt8]) throws(LogError) -> MemberHistory {
        // Each follows more changes than those that it follows.
        let order = records.indices.sorted { left, right in
            let (less, more) = (known[left].count, known[right].count)
            if less != more { return less < more }
            return records[left].id.bytes.lexicographicallyPrecedes(records[right].id.bytes)
        }
        var sorted = MemberHistory()
        for index in order { try sorted.append(records[index], in: vaultID) }
        return sorted
    }

    subscript(index: Int) -> MemberRecord { records[index] }

    /// Whether the author of a change knew another one.
    func knows(_ index: Int, _ other: Int) -> Bool { known[index].contains(other) }

    /// Whether a change is one of others, or one that they follow.
    func isIncluded(_ index: Int, by others: [Authenticator]) -> Bool {
        others.compactMap { indices[$0] }.contains { $0 == index || knows($0, index) }
    }

    func device(_ id: DeviceID) -> Device? { devices[id] }

    /// Whether a device is the one that counts of those with its id.
    func counts(_ device: Device) -> Bool { devices[device.id] == device }

    func contains(_ id: Authenticator) -> Bool { indices[id] != nil }

    /// The changes that no other one follows: what the author of the next one knows.
    var heads: [Authenticator] {
        var followed = IndexSet1024()
        for known in known { followed.formUnion(known) }
        return records.indices.filter { !followed.contains($0) }.map { records[$0].id }
    }

    /// Adds a change that follows others.
    ///
    /// - Throws: `damaged` unless those that it follows are there, it is not, and its author has signed it; `invalid`
    ///   if there is no room.
    mutating func append(_ record: MemberRecord, in vaultID: [UInt8]) throws(LogError) {
        guard records.count < MemberChange.limit else {
            throw LogError(.invalid, "the members have changed \(MemberChange.limit) times, and cannot change again")
        }
        guard !contains(record.id), record.change.known.isEmpty == records.isEmpty else {
            throw .damaged("a change of the members in a place where it cannot be")
        }
        var before = IndexSet1024()
        for id in record.change.known {
            guard let index = indices[id] else { throw .damaged("a change of the members that follows none of them") }
            before.formUnion(known[index])
            before.insert(index)
        }
        let (change, authorship) = (record.change, record.authorship)
        guard let author = devices[authorship.author] ?? (record.addsItsAuthor ? change.device : nil),
            authorship.isValid(for: Statement(change, in: vaultID), by: author)
        else { throw .damaged("a change of the members that was not signed by whom it names") }
        devices[change.device.id] = devices[change.device.id] ?? change.device
        indices[record.id] = records.count
        records.append(record)
        known.append(before)
    }

    /// Returns the indices of the changes that count, in their order.
    ///
    /// The author of a change has to be a member by what it knew. An addition counts, besides, only if no removal of
    /// its author is as old: one that did not know the addition, and that the author did not know.
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

    /// Whether the author of a change was a member by those of the changes that it knew and that hold; if there was no
    /// member, a device adds itself.
    private func mayAuthor(_ index: Int, by holding: IndexSet1024) -> Bool {
        let record = records[index]
        let members = members(by: known[index].intersection(holding))
        return members.contains(record.authorship.author) || record.addsItsAuthor && members.isEmpty
    }

    /// A removal takes away what its author knew of a device. What it did not know is another matter.
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

/// Some of the numbers from 0 to 1,023.
private struct IndexSet1024: Sendable {
    private var words = [UInt64](repeating: 0, count: MemberChange.limit / 64)

    var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    func contains(_ number: Int) -> Bool { words[number / 64] >> UInt64(number % 64) & 1 == 1 }

    mutating func insert(_ number: Int) { words[number / 64] |= 1 << UInt64(number % 64) }

    mutating func formUnion(_ other: IndexSet1024) {
        for index in words.indices { words[index] |= other.words[index] }
    }

    func intersection(_ other: IndexSet1024) -> IndexSet1024 {
        var common = self
        for index in words.indices { common.words[index] &= other.words[index] }
        return common
    }
}
