import Foundation
import LinuxSystem
import SealedLog
import Sealing

extension FuzzTarget {
    /// A file of the rollback memory, as it is and with the right code behind it.
    static let memory = FuzzTarget(name: "memory") {
        MemoryFile.allCases.flatMap { file in [0, 1, 90].map { file.sample($0) } }
    } feed: { input, folder in
        guard let file = MemoryFile(of: input) else { return }
        let memory = try MemoryWork(folder: folder)
        try memory.open(with: file, input)
        try memory.open(with: file, file.authenticated(input, at: memory.vault.path))
    }
}

private enum MemoryFile: String, CaseIterable {
    case seen = "vltseen1"
    case path = "vltpath1"
    case upkeep = "vltkeep1"

    init?(of bytes: [UInt8]) { self.init(rawValue: String(decoding: bytes.prefix(8), as: UTF8.self)) }

    var size: Int { self == .upkeep ? 213 : 88 }

    func location(in folder: String, of vault: String) -> String {
        let id = Hexadecimal.string(of: MemoryWork.vaultID)
        let hash = Hexadecimal.string(of: OpenedVault.hash(Array(vault.utf8), size: 16))
        return folder + "/" + (self == .path ? hash : id) + "."
            + String(rawValue.dropFirst(3).prefix(4) == "keep" ? "upkeep" : rawValue.dropFirst(3).dropLast())
    }

    func sample(_ sequence: UInt8) -> [UInt8] {
        let start = Array(rawValue.utf8) + MemoryWork.vaultID
        let rest = [sequence] + [UInt8](repeating: 0, count: size - start.count - 1)
        return start + rest
    }

    /// Returns the bytes with a right code, and in a path's file with a right checksum.
    func authenticated(_ bytes: [UInt8], at path: String) -> [UInt8] {
        var bytes = Array((bytes + [UInt8](repeating: 0, count: size)).prefix(size - 32))
        if self == .path {
            bytes.replaceSubrange(40..<48, with: MemoryFile.check(of: Array(bytes[..<40])))
        }
        bytes += code(of: bytes, at: path)
        return self == .seen ? bytes + MemoryFile.check(of: bytes) : bytes
    }

    /// The check of a whole file of the newest position, which needs no key.
    private static func check(of bytes: [UInt8]) -> [UInt8] {
        OpenedVault.checksum(of: bytes, key: .init(repeating: 0, count: 16))
    }

    private func code(of bytes: [UInt8], at path: String) -> [UInt8] {
        OpenedVault.hash(bytes + (self == .path ? Array(path.utf8) : []), key: VaultKeys.subkeys[.memory] ?? [])
    }

    /// Whether the vault may be reported as an older, another or a replaced one.
    func mayAlarm(_ bytes: [UInt8], at path: String) -> Bool {
        guard bytes.count >= size else { return false }
        let isAuthentic = bytes[size - 32..<size].elementsEqual(code(of: Array(bytes[..<(size - 32)]), at: path))
        switch self {
        // One that is whole and not authentic may be of a later data key.
        case .seen:
            let isWhole = bytes[size...].starts(with: MemoryFile.check(of: Array(bytes[..<size])))
            return (isAuthentic || isWhole) && bytes[8..<24].elementsEqual(MemoryWork.vaultID)
        // Another vault's record authenticates under that vault's key alone.
        case .path: return !bytes[8..<24].elementsEqual(MemoryWork.vaultID)
        case .upkeep: return false
        }
    }
}

/// A vault with one value that the machine remembers.
private struct MemoryWork {
    static let vaultID = [UInt8](repeating: 0x49, count: 16)

    let vault: VaultWork
    private let folder: String
    private let bytes: [UInt8]

    init(folder: String) throws {
        vault = VaultWork(folder: folder, name: "remembered", key: VaultKeys.keyFile)
        self.folder = folder + "/memory"
        guard let bytes = MemoryWork.sample else { fatalError("the vault of the memory is not there") }
        self.bytes = bytes
    }

    private static let sample: [UInt8]? = {
        let file = try? FuzzTarget.fixtures(in: "Interop/Vectors", ending: "empty.vault").first {
            $0.lastPathComponent == "empty.vault"
        }
        let key = file?.deletingPathExtension().appendingPathExtension("key")
        guard let vault = try? file?.bytes, let key = try? key?.bytes,
            var opened = OpenedVault.opening(vault, keyFile: key)
        else { return nil }
        opened.replaceSubrange(16..<32, with: vaultID)
        return OpenedVault.sealing(opened)
    }()

    /// The vault opens, unless the file gives reason for an alarm; and the memory works again after a change.
    func open(with file: MemoryFile, _ content: [UInt8]) throws {
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try write(bytes, to: vault.path)
        let location = file.location(in: folder, of: vault.path)
        try write(content, to: location)
        do {
            let log = try vault.open(vault.path, memory: folder)
            _ = try vault.present(in: log)
            _ = try log.verify(timeout: .seconds(5))
            _ = try log.compact(timeout: .seconds(5))
            _ = try vault.open(vault.path, memory: folder)
        } catch let error as LogError {
            check(LogError.Code.alarms.contains(error.code), "a memory file closes the vault: \(error)")
            check(file.mayAlarm(content, at: vault.path), "an alarm without reason: \(error)")
        }
    }
}
