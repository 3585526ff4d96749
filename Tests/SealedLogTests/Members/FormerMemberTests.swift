import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// One course of a vault with a member, Eve, who is removed, and of all that she tries then: she has the device, every
/// data key until the rotation, and copies of the vault from before it. A model says what may be read.
final class FormerMember {
    private let vault: SharedVault
    private let eve: DeviceKey
    private let friend: DeviceKey
    /// The vault as Mia has it open.
    private var log: SealedLog
    private var chance: SeededGenerator
    /// What honest people have set, Eve too as long as she was one of them, and what was planted before her removal.
    private var truth: [String: String] = [:] {
        didSet {
            for (name, text) in oldValue where truth[name] != text { past[name, default: []].append(text) }
        }
    }
    /// What each name has had before: no merge forgets it.
    private var past: [String: [String]] = [:]
    private var copies: [[UInt8]] = []
    /// Tom's, which was away.
    private var laptop: SealedLog?
    private var steps: [String] = []
    private var number = 0

    private static let names = ["a", "b", "c", "d"]
    /// What no value may ever begin with.
    private static let evil = "of Eve, afterwards"

    init(_ seed: Int) throws {
        vault = try SharedVault()
        eve = try DeviceKey(.generate())
        friend = try DeviceKey(.generate())
        chance = SeededGenerator(seed)
        log = try vault.open(as: vault.mia, remembering: true)
        try log.set("a", "from before there were members")
        truth["a"] = "from before there were members"
        let vault = vault
        let eve = eve
        try log.changeMembers { (members) throws(LogError) in
            try members.add("mia", vault.mia.device, signedBy: vault.mia)
            try members.add("tom", vault.tom.device, signedBy: vault.mia)
            try members.add("eve", eve.device, signedBy: vault.mia)
        }
    }

    func run() throws {
        do { try runSteps() } catch let error as LogError { throw Failure(error: error, steps: steps) }
    }

    private struct Failure: Error {
        let error: LogError
        let steps: [String]
    }

    private func runSteps() throws {
        for _ in 0..<Int.random(in: 4..<10, using: &chance) { try takeStepBefore() }
        try remove()
        for _ in 0..<Int.random(in: 3..<8, using: &chance) {
            try takeStepAfter()
            try check()
        }
    }

    private func draw(_ count: Int) -> Int { Int.random(in: 0..<count, using: &chance) }
    private func name() -> String { FormerMember.names[draw(FormerMember.names.count)] }

    private func text(_ author: String) -> String {
        number += 1
        // Some are of one length.
        return "\(author) \(number)" + String(repeating: ".", count: draw(2) * 8)
    }

    private func note(_ step: String) { steps.append(step) }

    private func copy(_ bytes: [UInt8], as key: DeviceKey?) throws -> SealedLog {
        number += 1
        let path = vault.fixture.folder.file("copy-\(number).vault")
        try overwrite(path, bytes)
        return try vault.open(path, as: key)
    }

    // MARK: Before

    private func takeStepBefore() throws {
        let name = name()
        let bytes = try vault.fixture.bytes
        switch draw(9) {
        case 0, 1: try set(name, text("Mia"), as: vault.mia)
        case 2: try set(name, text("Tom"), as: vault.tom)
        case 3: try set(name, text("Eve"), as: eve)
        case 4:
            try log.remove(name)
            truth[name] = nil
            note("Mia removes \(name)")
        case 5: copies.append(bytes)
        case 6:
            guard truth[name] != nil else { return }
            let planted = "planted \(number)"
            truth[planted] = text("Eve")
            try copyAtItsPath().plant(planted, truth[planted] ?? "", under: log.nonce(of: name))
            note("Eve plants \(planted) under the nonce of \(name)")
        case 7: if draw(2) == 0 { try rotate() } else { try log.compact() }
        default: laptop = try copy(bytes, as: vault.tom)
        }
    }

    private func copyAtItsPath() throws -> SealedLog { try vault.open(as: eve) }

    private func set(_ name: String, _ text: String, as key: DeviceKey) throws {
        try vault.open(as: key).set(name, text)
        truth[name] = text
        note("set \(name) to \(text)")
    }

    private func rotate() throws {
        try log.rotate()
        note("rotated")
    }

    private func remove() throws {
        copies.append(try vault.fixture.bytes)
        let mia = vault.mia
        let isOne = draw(2) == 0
        _ = try log.changeKeys(timeout: SealedLog.patience) { (table) throws(LogError) in
            try table.members.remove("eve", signedBy: mia)
            if isOne { try table.rotate { (_) throws(LogError) in throw LogError(.conflict) } }
        }
        note("Eve is removed\(isOne ? ", and the data key rotated" : "")")
        guard !isOne else { return }
        // Until the rotation, her copies are under the vault's own data key.
        for _ in 0..<draw(4) {
            if draw(3) == 0 { copies.append(try vault.fixture.bytes) }
            try draw(4) == 0 ? mergeLaptop() : mergeCopyOfEve()
            try check(isRotated: false)
        }
        try rotate()
    }

    // MARK: Afterwards

    private func takeStepAfter() throws {
        switch draw(8) {
        case 0: try set(name(), text("Mia"), as: vault.mia)
        case 1: try set(name(), text("Tom"), as: vault.tom)
        case 2: try log.compact()
        case 3 where draw(3) == 0: try rotate()
        case 4: try mergeLaptop()
        case 5: try putOlderFileAtItsPath()
        default: try mergeCopyOfEve()
        }
    }

    /// An honest one, from before the rotation.
    private func mergeLaptop() throws {
        guard let laptop else { return }
        let name = "t \(number)"
        let text = text("Tom")
        try laptop.set(name, text)
        var report: MergeReport?
        let code = try LogError.code { report = try log.merge(laptop, timeout: SealedLog.patience) }
        note("merged Tom's laptop: \(report?.changed ?? []), refused \(report?.refused ?? []), \(code as Any)")
        // It has what Eve had planted by then.
        let isPlanted = try !laptop.verify().sharingNonces.isEmpty
        try #require(code == (isPlanted ? .copyDamaged : nil), "\(steps)")
        if !isPlanted { truth[name] = text }
    }

    private func mergeCopyOfEve() throws {
        let copy = try copy(copies[draw(copies.count)], as: eve)
        for _ in 0..<(1 + draw(4)) { try tamper(with: copy) }
        var report: MergeReport?
        let code = try LogError.code { report = try log.merge(copy, timeout: SealedLog.patience) }
        note("merged Eve's copy: \(report?.changed ?? []), refused \(report?.refused ?? []), \(code as Any)")
        try #require(code == nil || code == .copyDamaged, "\(steps)")
    }

    private func tamper(with copy: SealedLog) throws {
        let name = name()
        let number = draw(9)
        note("tampering \(number) with \(name)")
        switch number {
        case 0: try sign(name, in: copy, by: eve, isBackdated: false)
        case 1: try sign(name, in: copy, by: eve, isBackdated: true)
        case 2: try copy.plant(name, FormerMember.evil, under: NonceSource.one())
        case 3:
            let known = try copy.history(.sample(name))?.content?.current.nonce
            try copy.plant("new", FormerMember.evil, under: known ?? NonceSource.one())
        case 4:
            // What somebody has signed, as if it were newer, or of another name.
            guard var entry = try copy.history(.sample(name)) else { return }
            if draw(2) == 0 { entry.modified = Clock.milliseconds + 1_000_000 }
            if draw(3) == 0 {
                entry = Entry(name: try .sample("new"), modified: entry.modified, content: entry.content)
            }
            entry.sequence = 1 << 40
            try copy.write(entry, entry.versions.map { _ in nil })
        case 5:
            // A friend whom nobody else knows.
            let eve = eve
            let friend = friend
            guard try copy.members().isMember(eve.device), try !copy.members().isMember(friend.device) else { return }
            try copy.changeMembers { (members) throws(LogError) in
                try members.add("friend \(number)", friend.device, signedBy: eve)
            }
            try sign(name, in: copy, by: friend, isBackdated: draw(2) == 0)
        case 6:
            // Whoever removes Eve is to be removed before.
            let eve = eve
            guard try copy.members().isMember(eve.device), try copy.members().isMember(vault.mia.device) else { return }
            try copy.changeMembers { (members) throws(LogError) in try members.remove("mia", signedBy: eve) }
        case 7:
            // Positions are no secret.
            try copy.forge(claiming: log.view.withLock { $0.head })
        default:
            guard var entry = try copy.history(.sample(name)) else { return }
            entry.earlier = []
            entry.forgotten = entry.modified
            entry.sequence = 1 << 40
            try copy.write(entry, entry.versions.map { _ in nil })
        }
    }

    private func sign(_ name: String, in copy: SealedLog, by key: DeviceKey, isBackdated: Bool) throws {
        let now = Clock.milliseconds + (draw(2) == 0 ? 1_000_000 : 0)
        let sealed = try SealedValue(
            SecretBytes(copyOf: Array(FormerMember.evil.utf8)), kind: 1, nonce: NonceSource.one(), under: copy.keys)
        var entry = Entry(
            name: try .sample(name), modified: now,
            content: Entry.Content(created: now, current: sealed.version, attributes: []))
        let view = copy.view.withLock { $0 }
        let seen = isBackdated ? view.passed.first ?? view.head : view.head
        entry.authorship = try StateSigner(key: key, vaultID: copy.vaultID, seen: seen).authorship(of: entry, sealed)
        entry.sequence = view.head.sequence + 1
        try copy.write(entry, [Array(sealed.box)])
    }

    /// A server, or whoever can write the file, puts back what was there.
    private func putOlderFileAtItsPath() throws {
        let present = try vault.fixture.bytes
        let copy = try copy(copies[draw(copies.count)], as: eve)
        if draw(2) == 0 { try tamper(with: copy) }
        try replace(vault.fixture.path, with: contents(copy.view.withLock { $0.store.path }))
        note("an older file is in place")
        let code = try LogError.code { _ = try vault.open(as: vault.mia, remembering: true).text("a") }
        try #require(code.map(LogError.Code.alarms.contains) == true, "no alarm: \(steps)")
        if try draw(2) == 1 || !mergeAtItsPath(present) { try replace(vault.fixture.path, with: present) }
        // A program that has the vault open looks for another file from time to time alone.
        log = try vault.open(as: vault.mia, remembering: true)
    }

    /// Mia merges the vault, of which a copy is left, into what is in its place. Returns whether that was done.
    private func mergeAtItsPath(_ present: [UInt8]) throws -> Bool {
        let left = try self.copy(present, as: vault.mia)
        let joined = try vault.open(as: vault.mia, remembering: true, joining: [left])
        var report: MergeReport?
        let code = try LogError.code { report = try joined.merge(left, timeout: SealedLog.patience) }
        note(
            "merged the vault into its place: \(report?.changed ?? []), refused \(report?.refused ?? []), \(code as Any)"
        )
        // A signature in the older file may not hold.
        try #require(code == nil || code == .damaged, "\(steps)")
        guard let report, !report.refusesOwn else { return false }
        try joined.finishJoining()
        return true
    }

    private func check(isRotated: Bool = true) throws {
        let states = try log.states()
        let present = states.compactMapValues(\.present)
        try #require(present == truth, "\(present) instead of \(truth): \(steps)")
        for (name, texts) in past {
            let earlier = states[name]?.earlier.map(\.text) ?? []
            try #require(Set(texts.suffix(10)).isSubset(of: earlier), "\(earlier) of \(name), not \(texts): \(steps)")
        }
        let all = states.values.flatMap { [$0.present].compactMap { $0 } + $0.earlier.map(\.text) }
        try #require(!all.contains { $0.hasPrefix(FormerMember.evil) }, "\(steps)")
        try #require(try log.members().members.map(\.name) == ["mia", "tom"], "\(steps)")
        let found = try log.verify()
        // Whoever knew a value could forge the others under its nonce.
        try #require(found.sharingNonces == [] || !isRotated, "\(found.sharingNonces) share a nonce: \(steps)")
        try #require(found.ofNonMembers == [] && found.foreign == [], "\(found): \(steps)")
    }
}

@Suite("A former member")
struct FormerMemberTests {
    /// `VAULT_FORMER_MEMBERS=FROM..<TO` tries others.
    private static var seeds: Range<Int> {
        let bounds = (ProcessInfo.processInfo.environment["VAULT_FORMER_MEMBERS"] ?? "0..<150").split(separator: "..<")
        return (Int(bounds[0]) ?? 0)..<(Int(bounds[bounds.count - 1]) ?? 0)
    }

    @Test func bringsNothingInByAnyWay() throws {
        for seed in FormerMemberTests.seeds {
            do { try FormerMember(seed).run() } catch { Issue.record("seed \(seed): \(error)") }
        }
    }
}
