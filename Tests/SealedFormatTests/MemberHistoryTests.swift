import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat

/// Members whom several copies have changed apart from each other, some of them by people who were removed.
@Suite("Members changed apart")
struct MemberHistoryTests {
    private static let vaultID = [UInt8](repeating: 7, count: 16)
    private static let head = LogPosition(sequence: 1, authenticator: .zero)

    /// A device of each number, and its member's name.
    private let devices: [DeviceKey]

    init() throws { devices = try (0..<8).map { _ in try DeviceKey(.generate()) } }

    private func name(_ number: Int) -> String { "member \(number)" }

    /// A change that follows some others, whoever may make it.
    private func change(
        _ isRemoval: Bool, _ device: Int, by author: Int, after known: [Authenticator], time: UInt64 = 0
    ) throws -> MemberRecord {
        let change = MemberChange(
            isRemoval: isRemoval, time: time, name: name(device), device: devices[device].device, recipient: "",
            known: known)
        return MemberRecord(
            change: change,
            authorship: try devices[author].sign(Statement(change, in: Self.vaultID), after: Self.head))
    }

    private func list(_ records: [MemberRecord]) throws -> MemberList {
        try MemberList(records, in: Self.vaultID, at: Self.head)
    }

    private func numbers(_ list: MemberList) -> Set<Int> {
        Set(devices.indices.filter { list.isMember(devices[$0].device) })
    }

    // MARK: Any changes

    /// Changes of random authors, members or not, that follow random ones: each is known, through others, to few.
    private func randomRecords(_ generator: inout SeededGenerator, count: Int) throws -> [MemberRecord] {
        var records = [try change(false, 0, by: 0, after: [])]
        while records.count < count {
            let count = Int.random(in: 1...2, using: &generator)
            let known = Set(records.shuffled(using: &generator).prefix(count).map(\.id))
            let device = Int.random(in: 0..<8, using: &generator)
            let author = Int.random(in: 0..<8, using: &generator)
            let isRemoval = Int.random(in: 0..<3, using: &generator) == 0
            let record = try change(isRemoval, device, by: author, after: Array(known), time: UInt64(records.count))
            // Somebody whom no change names signs nothing but that.
            if (try? list(records + [record])) != nil { records.append(record) }
        }
        return records
    }

    /// In whatever order they stand, the same people are members, as long as no two additions are of one device.
    @Test(arguments: 0..<60) func theOrderInWhichTheyStandDoesNotDecide(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        let records = try randomRecords(&generator, count: 12)
        let expected = numbers(try list(records))
        for _ in 0..<6 {
            var left = records
            var ordered = [MemberRecord]()
            while !left.isEmpty {
                let ready = left.indices.filter { index in
                    left[index].change.known.allSatisfy { id in ordered.contains { $0.id == id } }
                }
                ordered.append(left.remove(at: ready[Int.random(in: 0..<ready.count, using: &generator)]))
            }
            // An addition of a device that is a member's has no effect: which of them counts is another matter.
            guard let shuffled = try? list(ordered) else { continue }
            #expect(numbers(shuffled) == expected, "seed \(seed)")
        }
    }

    /// Whoever was removed by somebody who may do that has let nobody in whom that one did not know.
    @Test(arguments: 0..<200) func whoWasRemovedLetsNobodyInUnseen(_ seed: Int) throws {
        var generator = SeededGenerator(1_000 + seed)
        var records = try randomRecords(&generator, count: 14)
        let members = try list(records)
        guard let remover = numbers(members).first, let removed = numbers(members).first(where: { $0 != remover }),
            let friend = devices.indices.first(where: { index in
                !records.contains { $0.change.device == devices[index].device }
            })
        else { return }
        // What he had seen when he added the friend is any of the changes before.
        let seen = records.randomElement(using: &generator).map { [$0.id] } ?? []
        let addition = try change(false, friend, by: removed, after: seen, time: 0)
        records.append(try change(true, removed, by: remover, after: members.history.heads, time: .max))
        #expect(try !numbers(list(records)).contains(removed), "seed \(seed)")
        for all in [records + [addition], records.dropLast() + [addition, records[records.count - 1]]] {
            #expect(try !numbers(list(all)).contains(friend), "seed \(seed)")
        }
        // Where the removal is known, his changes are not taken over at all.
        let joined = try list(records).joined(with: records + [addition])
        #expect(joined.records.count == records.count, "seed \(seed)")
    }

    /// Copies that have the same changes have them in one order, and the same members.
    @Test(arguments: 0..<40) func copiesComeToTheSame(_ seed: Int) throws {
        var generator = SeededGenerator(2_000 + seed)
        var lists = try (0..<3).map { _ in try MemberList([], in: Self.vaultID, at: Self.head) }
        try lists[0].add(name(0), devices[0].device, signedBy: devices[0])
        try lists[0].add(name(1), devices[1].device, signedBy: devices[0])
        lists[1] = lists[0]
        lists[2] = lists[0]
        for number in 2..<8 {
            let copy = Int.random(in: 0..<3, using: &generator)
            try lists[copy].add(name(number), devices[number].device, signedBy: devices[number % 2])
            let one = Int.random(in: 0..<3, using: &generator)
            let other = Int.random(in: 0..<3, using: &generator)
            if number % 3 == 0 { lists[one] = try lists[one].joined(with: lists[other].records) }
        }
        for _ in 0..<2 {
            for (one, other) in [(0, 1), (1, 2), (2, 0)] {
                lists[one] = try lists[one].joined(with: lists[other].records)
            }
        }
        for list in lists {
            #expect(list.records == lists[0].records, "seed \(seed)")
            #expect(numbers(list) == Set(0..<8), "seed \(seed)")
            #expect(list.members == lists[0].members, "seed \(seed)")
        }
        // A change that follows all of them is the last one in any order.
        try lists[1].add("last", DeviceKey(.generate()).device, signedBy: devices[0])
        #expect(try lists[0].joined(with: lists[1].records).records == lists[1].records)
    }

    // MARK: One after the other

    /// A removal takes away what it knew. A device that was added again in another copy stays.
    @Test func whoWasAddedAgainInAnotherCopyStays() throws {
        let first = try change(false, 0, by: 0, after: [])
        let tom = try change(false, 1, by: 0, after: [first.id])
        let gone = try change(true, 1, by: 0, after: [tom.id])
        let again = try change(false, 1, by: 0, after: [gone.id])
        let alsoGone = try change(true, 1, by: 0, after: [tom.id], time: 9)
        for records in [[first, tom, gone, again, alsoGone], [first, tom, gone, alsoGone, again]] {
            #expect(try numbers(list(records)) == [0, 1])
        }
        #expect(try numbers(list([first, tom, gone, alsoGone])) == [0])
    }

    /// What is damaged: a second first change, one that follows nothing that is there, one that is there twice.
    @Test func aChangeStandsBehindThoseThatItFollows() throws {
        let first = try change(false, 0, by: 0, after: [])
        let tom = try change(false, 1, by: 0, after: [first.id])
        let ann = try change(false, 2, by: 1, after: [tom.id])
        _ = try list([first, tom, ann])
        let wrong = [
            [tom], [first, ann], [first, ann, tom], [first, tom, tom], [first, try change(false, 1, by: 0, after: [])],
            [try change(false, 0, by: 0, after: [ann.id])],
        ]
        for records in wrong { #expect(try LogError.code { _ = try list(records) } == .damaged) }
    }

    @Test func thereIsRoomFor1024Changes() throws {
        var list = try MemberList([], in: Self.vaultID, at: Self.head)
        try list.add(name(0), devices[0].device, signedBy: devices[0])
        var records = list.records
        while records.count < MemberChange.limit {
            records.append(try change(records.count % 2 == 0, 1, by: 0, after: [records[records.count - 1].id]))
        }
        list = try self.list(records)
        #expect(numbers(list) == [0, 1])
        #expect(try LogError.code { try list.add(name(2), devices[2].device, signedBy: devices[0]) } == .invalid)
        #expect(list.records.count == MemberChange.limit)
        var fewer = try self.list(Array(records.dropLast()))
        try fewer.add(name(2), devices[2].device, signedBy: devices[0])
        #expect(try LogError.code { _ = try list.joined(with: fewer.records) } == .invalid)
    }
}
