import Foundation
import LinuxSystem
import SealedLog
import Sealing
import TestSupport

extension FuzzTarget {
    /// A vault file as an attacker without the key may change it.
    static let vault = FuzzTarget(name: "vault") {
        try fixtures(in: "Interop/Vectors", ending: ".vault").map { try $0.bytes }.filter { $0.count <= 12_288 }
    } feed: { input, folder in
        guard !asksForMuchWork(input) else { return }
        let vector = VaultVectors.vector(for: input)
        let work = VaultWork(folder: folder, name: "vault", key: vector.key)
        let known = try VaultVectors.known(of: vector, with: work)
        let seen = try work.seenInAnyWay(of: input)
        guard let known else { return }
        check(seen.isSubset(of: known), "a value came out of the vault that was never in it")
    }

    /// Whether trying the slots for files that were not generated would take long. Then they may also be tried by a
    /// salvage, which looks at all of both headers.
    private static func asksForMuchWork(_ input: [UInt8]) -> Bool {
        [0, 4_096].contains { header in
            stride(from: header + 256, to: header + 2_048, by: 112).contains { slot in
                guard slot + 112 <= input.count, input[slot] == 2 else { return false }
                let passes = input.number(at: slot + 24)
                let memory = input.number(at: slot + 32)
                return passes > 2 || memory > 64 << 10
            }
        }
    }
}

/// A name with one of the values that it had.
struct KnownValue: Hashable {
    let name: [UInt8]
    let kind: UInt8
    let value: [UInt8]
}

/// Opens, lists, verifies and salvages a vault of which only the bytes are known.
struct VaultWork {
    let folder: String
    /// Of the files, so that targets can share a folder.
    let name: String
    let key: [UInt8]

    var path: String { "\(folder)/\(name).vault" }
    private static let files = PosixFileSystem()
    private static let timeout: Duration = .seconds(5)

    /// Puts the bytes in place and opens them.
    func open(_ bytes: [UInt8]) throws -> SealedLog {
        try write(bytes, to: path)
        return try open(path)
    }

    func open(_ path: String, memory: String? = nil) throws -> SealedLog {
        try write(key, to: "\(folder)/\(name).key")
        return try SealedLog.open(path, options: options(memory), in: VaultWork.files, readKey: readKey)
    }

    func readKey() throws(LogError) -> KeyFile {
        try KeyFile.read("\(folder)/\(name).key", secretFolders: [], in: VaultWork.files)
    }

    private func options(_ memory: String? = nil) -> SealedLog.Options {
        SealedLog.Options(lockTimeout: VaultWork.timeout, memoryFolder: memory)
    }

    /// Returns what the vault shows to every command that can read it.
    func seenInAnyWay(of bytes: [UInt8]) throws -> Set<KnownValue> {
        var seen: Set<KnownValue> = []
        if let log = try? open(bytes) {
            seen = (try? present(in: log)) ?? []
            for value in seen {
                let one = try? log.openTagged(String(decoding: value.name, as: UTF8.self))?.kind
                check(one == value.kind, "a listed name does not open")
            }
            if (try? log.verify(timeout: VaultWork.timeout)) != nil { try workOn(log, showing: seen) }
        }
        return seen.union(try salvaged(bytes))
    }

    func present(in log: SealedLog) throws(LogError) -> Set<KnownValue> {
        Set(
            try log.openTagged(prefix: []) { name, value in
                KnownValue(name: name.bytes, kind: value.kind, value: value.bytes.unsafeArray())
            })
    }

    /// A vault that verifies can be written on and compacted; what it shows stays the same.
    private func workOn(_ log: SealedLog, showing before: Set<KnownValue>) throws {
        guard let name = EntryName("one more") else { return }
        let value = try SecretBytes(copyOf: [1])
        do throws(LogError) {
            guard try log.entry(name) == nil else { return }
            var nonces = NonceSource()
            let sealed = try log.seal(value, kind: 2, nonces: &nonces)
            let changes = ChangeList([Change(name, .absent, .set(sealed, attributes: nil))])
            try log.commit(changes, timeout: VaultWork.timeout)
            let after = before.union([KnownValue(name: name.bytes, kind: 2, value: [1])])
            let isSame = try present(in: log) == after
            check(isSame, "another value changed with a change")
            _ = try log.compact(timeout: VaultWork.timeout)
            let isStillSame = try present(in: log) == after
            check(isStillSame, "a value changed in a compaction")
            _ = try log.verify(timeout: VaultWork.timeout)
        } catch {
            // One that has used up its sequence numbers takes no more, and one with members nothing of a stranger's.
            let isRefused = error.code == .usedUp || error.code == .notMember
            check(isRefused, "a vault that verified cannot be worked on: \(error)")
        }
    }

    /// Returns what a salvage finds, but for names whose value is an earlier one.
    func salvaged(_ bytes: [UInt8]) throws -> Set<KnownValue> {
        let target = "\(folder)/\(name).salvaged"
        try write(bytes, to: path)
        try? FileManager.default.removeItem(atPath: target)
        guard
            let report = try? SealedLog.salvage(
                path, to: target, key: readKey(), options: options(), in: VaultWork.files)
        else { return [] }
        let isLeftAlone = try URL(filePath: path).bytes == bytes
        check(isLeftAlone, "a salvage changed the damaged file")
        do {
            let log = try open(target)
            _ = try log.verify(timeout: VaultWork.timeout)
            let older = Set(report.older.map { Array($0.utf8) })
            return try present(in: log).filter { !older.contains($0.name) }
        } catch { fatalError("what was salvaged is no vault: \(error)") }
    }
}

/// The vectors by their vault id, and what each held in any state of its history.
enum VaultVectors {
    struct Vector: Sendable {
        let bytes: [UInt8]
        let key: [UInt8]
        /// Whether a reader has to open it: what a refused one would hold is not known.
        let isWhole: Bool
    }

    private static let vectors: [[UInt8]: Vector] = {
        let files = (try? FuzzTarget.fixtures(in: "Interop/Vectors", ending: ".vault")) ?? []
        let vectors = files.compactMap { file -> ([UInt8], Vector)? in
            let base = file.deletingPathExtension()
            guard let bytes = try? file.bytes, bytes.count >= 8_192,
                let key = try? base.appendingPathExtension("key").bytes,
                let text = try? String(contentsOf: base.appendingPathExtension("json"), encoding: .utf8)
            else { return nil }
            return (id(of: bytes), Vector(bytes: bytes, key: key, isWhole: text.contains(#""expect": "ok""#)))
        }
        return Dictionary(vectors) { first, _ in first }
    }()

    private static func id(of bytes: [UInt8]) -> [UInt8] { Array(bytes.dropFirst(16).prefix(16)) }

    /// Returns the vector that an input was made of, as its header or the copy tells.
    static func vector(for input: [UInt8]) -> Vector {
        let copy = Array(input.dropFirst(4_096))
        return vectors[id(of: input)] ?? vectors[id(of: copy)] ?? Vector(bytes: [], key: [1], isWhole: false)
    }

    private static let found = Mutex<[[UInt8]: Set<KnownValue>]>([:])

    /// Returns every value that a name of the vector has had; nil if that is not known.
    static func known(of vector: Vector, with work: VaultWork) throws -> Set<KnownValue>? {
        guard vector.isWhole else { return nil }
        if let known = found.withLock({ $0[vector.bytes] }) { return known }
        var known: Set<KnownValue> = []
        for end in recordEnds(vector.bytes) {
            if let log = try? work.open(Array(vector.bytes[..<end])) { known.formUnion(try work.present(in: log)) }
        }
        // A salvage also finds a record that was never acknowledged, in a torn tail.
        known.formUnion(try work.salvaged(vector.bytes))
        found.withLock { $0[vector.bytes] = known }
        return known
    }

    /// Returns where the checkpoint and each record end, and the end of the file.
    private static func recordEnds(_ bytes: [UInt8]) -> [Int] {
        var ends = [Int(clamping: bytes.number(at: 120))]
        while let start = ends.last, start + 48 <= bytes.count, bytes[start...].starts(with: "vrec".utf8) {
            ends.append(
                start + 48 + Int(bytes.number(at: start + 4, size: 4)) + Int(clamping: bytes.number(at: start + 8)))
        }
        return ends.filter { $0 <= bytes.count } + [bytes.count]
    }
}

extension [UInt8] {
    /// Reads a little-endian number.
    func number(at offset: Int, size: Int = 8) -> UInt64 {
        self[offset..<offset + size].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
