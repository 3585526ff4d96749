import Foundation
import LinuxSystem
import SealedFormat
import Sealing

extension FuzzTarget {
    /// What is behind the seal: a vault of which the fuzzer changes the plaintext, so that each parser is reached. All
    /// of it authenticates, as if a faulty writer had made it.
    static let sealed = FuzzTarget(name: "sealed") {
        try fixtures(in: "Interop/Vectors", ending: ".vault").compactMap { file in
            let key = file.deletingPathExtension().appendingPathExtension("key")
            // Some are opened by a passphrase or an identity alone.
            return try (try? key.bytes).flatMap { OpenedVault.opening(try file.bytes, keyFile: $0) }
        }.filter { $0.count <= 4_096 }
    } feed: { input, folder in
        guard let vault = OpenedVault.sealing(input) else { return }
        _ = try VaultWork(folder: folder, name: "sealed", key: VaultKeys.keyFile).seenInAnyWay(of: vault)
    }

    static let key = FuzzTarget(name: "key") {
        try fixtures(in: "Interop/Vectors", ending: ".key").map { try $0.bytes }.filter { $0.count <= 4_200 }
    } feed: { input, folder in
        try checkKeyFile(input, folder)
        // A fuzzer does not find a checksum.
        if let right = withRightChecksum(input) { try checkKeyFile(right, folder) }
    }

    private static func checkKeyFile(_ text: [UInt8], _ folder: String) throws {
        let path = folder + "/some.key"
        try write(text, to: path)
        guard let key = try? KeyFile.read(path, secretFolders: [], in: PosixFileSystem()) else { return }
        let letters = text.filter { $0 != 0 }.map { (0x41...0x5a).contains($0) ? $0 | 0x20 : $0 }
        let isNamed = letters.contains(Array("vault-key-".utf8)) || letters.contains(Array("# vault key file".utf8))
        check((key.kind == .generated) == (isNamed && text.count <= 4_096), "a key file of the wrong kind")
        guard key.kind == .generated else { return }
        let printed = try key.text().unsafeArray()
        guard let line = printed.split(separator: UInt8(ascii: "\n")).last else { return }
        check(letters.contains(Array(line)), "a key file is read as another key")
    }

    /// Puts the checksum right behind what looks like a key; nil if there is no such thing, or it is right.
    private static func withRightChecksum(_ text: [UInt8]) -> [UInt8]? {
        let prefix = Array("vault-key-1-".utf8)
        let starts = text.indices.filter { text[$0...].starts(with: prefix) && $0 + 85 <= text.count }
        guard let start = starts.first else { return nil }
        var secret = [UInt8](repeating: 0, count: 32)
        let isKey = text[start + 12..<start + 76].withUnsafeBytes { digits in
            secret.withUnsafeMutableBytes { Hexadecimal.decode(digits, into: $0) }
        }
        guard isKey else { return nil }
        var right = text
        right.replaceSubrange(start + 77..<start + 85, with: VaultKeys.keyLine(of: secret)[77..<85])
        return right == text ? nil : right
    }
}

extension [UInt8] {
    fileprivate func contains(_ part: [UInt8]) -> Bool { indices.contains { self[$0...].starts(with: part) } }
}
