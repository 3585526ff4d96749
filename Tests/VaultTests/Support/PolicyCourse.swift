import Foundation
import SealedFormat
import Sealing
import TestSupport

@testable import Vault

/// Random changes of a few logins and fields, with what was guarded at some time.
struct PolicyCourse {
    private enum Kind: String, CaseIterable {
        case set, expired, put, remove, removeAll, copy, move, moveAll, collect, restore, undo, purge, guarding, lifting
    }

    /// A value under one of its names: it may be guarded under one and plain under another.
    private struct Slot: Hashable {
        let name: String
        let value: String
    }

    private static let names = ["a", "a.x", "a.y", "b", "b.x", "c"]

    private let keychain: Keychain
    private var generator: SeededGenerator
    private var count = 0
    /// What was guarded, and whose policy nobody has taken away.
    private var guarded: Set<Slot> = []
    private(set) var steps: [String] = []

    init(seed: Int, _ keychain: Keychain) {
        generator = SeededGenerator(seed)
        self.keychain = keychain
    }

    /// Makes a change. It may be refused.
    mutating func step() throws {
        let name = anyName()
        let other = anyName()
        let kind = Kind.allCases[Int.random(in: 0..<Kind.allCases.count, using: &generator)]
        steps.append("\(kind.rawValue) \(name) \(other)")
        do throws(VaultError) { try change(name, other, kind) } catch {
            guard [.guarded, .absent, .exists, .invalid].contains(error.code) else { throw error }
            steps[steps.count - 1] += ": \(error.code.name)"
        }
        for slot in try slots() where try isGuarded(slot.name) { guarded.insert(slot) }
    }

    /// The names whose values were guarded and are no longer.
    func unguarded() throws -> [String] {
        try slots().filter { try guarded.contains($0) && !isGuarded($0.name) }.map(\.name)
    }

    private func slots() throws(VaultError) -> [Slot] {
        try keychain.keys().map { (name) throws(VaultError) in
            Slot(name: name, value: try keychain.unsafeString(name) ?? "")
        }
    }

    private func isGuarded(_ name: String) throws -> Bool {
        try EntryName(name).flatMap { try keychain.policy(of: $0) } != nil
    }

    // MARK: Changes

    private mutating func change(_ name: String, _ other: String, _ kind: Kind) throws(VaultError) {
        switch kind {
        case .set: try keychain.set(name, to: newValue(), attributes: attributes())
        case .expired: try keychain.set(name, to: newValue(), expires: Date(timeIntervalSinceNow: -1))
        case .put: try put(name)
        case .remove: try keychain.remove(name)
        case .removeAll: try removeAll(name)
        case .copy: try relocate([(name, other)], removing: false)
        case .move: try relocate([(name, other)], removing: true)
        case .moveAll: try moveAll(name, other)
        case .collect: try collect(name)
        case .restore: try restore(name)
        case .undo: try keychain.history.undo()
        case .purge: try purge(name)
        case .guarding: _ = try keychain.setAttributes(of: name, ["policy": "run"])
        case .lifting: try lift(name)
        }
    }

    private mutating func anyName() -> String {
        Self.names[Int.random(in: 0..<Self.names.count, using: &generator)]
    }

    private mutating func newValue() -> String {
        count += 1
        return "value \(count)"
    }

    private mutating func attributes() -> [String: String]? {
        let lists = [nil, [:], ["url": "\(count)"], ["policy": "", "url": "z"], ["policy": "run"]]
        return lists[Int.random(in: 0..<lists.count, using: &generator)]
    }

    private mutating func put(_ name: String) throws(VaultError) {
        let value = SealableValue(kind: .text, bytes: try SecretBytes(utf8: newValue()))
        _ = try keychain.put(name, value, adding: attributes() ?? [:])
    }

    private func removeAll(_ login: String) throws(VaultError) {
        let names = [login] + (try keychain.keys(prefix: login + "."))
        try keychain.transaction { (transaction) throws(VaultError) in
            for name in names { try transaction.remove(name) }
        }
    }

    private mutating func moveAll(_ login: String, _ other: String) throws(VaultError) {
        guard !other.hasPrefix(login), !login.hasPrefix(other) else { return }
        let names = [login] + (try keychain.keys(prefix: login + "."))
        try relocate(names.map { ($0, other + $0.dropFirst(login.count)) }, removing: true)
    }

    private mutating func relocate(_ pairs: [(from: String, to: String)], removing: Bool) throws(VaultError) {
        let former = Dictionary(uniqueKeysWithValues: try slots().map { ($0.name, $0) })
        try keychain.relocate(pairs, replacing: true, removing: removing)
        for (from, to) in pairs {
            guard let slot = former[from] else { continue }
            let moved = Slot(name: to, value: slot.value)
            // The same value may have been there before, from another name.
            if guarded.contains(slot) { guarded.insert(moved) } else { guarded.remove(moved) }
        }
    }

    private mutating func collect(_ name: String) throws(VaultError) {
        let file = try Keychain.DropBox.seal(
            name, SecretBytes(utf8: newValue()), attributes: attributes() ?? [:], to: keychain.dropBox.recipient())
        try keychain.dropBox.collect([keychain.dropBox.open(file)], replacing: true)
    }

    private mutating func restore(_ name: String) throws(VaultError) {
        let versions = try keychain.history.versions(of: name)
        guard let version = versions.randomElement(using: &generator) else { return }
        try keychain.history.restore(name, version)
    }

    // MARK: What takes a policy away

    /// With a login that is purged, the policy is forgotten that fields had from it.
    private mutating func purge(_ name: String) throws(VaultError) {
        try keychain.history.purge(name)
        guarded = guarded.filter { Login.split($0.name)?.login != name }
    }

    /// The values that the name and its fields have, and had before, may be plain from then on.
    private mutating func lift(_ name: String) throws(VaultError) {
        _ = try keychain.setAttributes(of: name, ["policy": nil])
        guarded = guarded.filter { $0.name != name && Login.split($0.name)?.login != name }
    }
}
