import Foundation
import TestSupport

/// A vault of `Tests/Interop/Vectors`, made by another implementation, and what a reader has to make of it.
struct VaultVector: Sendable, CustomStringConvertible {
    enum Outcome: String, Decodable, Sendable {
        case ok, damaged, locked, newer
    }

    struct Version: Decodable, Hashable, Sendable {
        let value: Data
        let kind: UInt8
        let modified: UInt64
        let attributes: [String: String]
        let expiry: UInt64?

        enum CodingKeys: String, CodingKey {
            case value = "value_base64"
            case kind, modified, attributes, expiry
        }
    }

    struct Entry: Decodable, Hashable, Sendable {
        let value: Data
        let kind: UInt8
        let modified: UInt64
        let created: UInt64
        let attributes: [String: String]
        let expiry: UInt64?
        var earlier: [Version]?

        enum CodingKeys: String, CodingKey {
            case value = "value_base64"
            case kind, modified, created, attributes, expiry, earlier
        }
    }

    private struct Expectation: Decodable {
        let expect: Outcome
        let entries: [String: Entry]?
        let fingerprint: HexBytes?
        let fileKey: HexBytes?
        let deviceKey: String?
        let sharingNonces: [String]?

        enum CodingKeys: String, CodingKey {
            case expect, entries, fingerprint
            case fileKey = "file_key"
            case deviceKey = "device_key"
            case sharingNonces = "sharing_nonces"
        }
    }

    private struct Secrets: Decodable {
        let passphrase: String?
    }

    let name: String
    let outcome: Outcome
    let entries: [String: Entry]
    /// The names of values whose boxes differ and share a nonce.
    let sharingNonces: [String]
    let vault: Data
    /// nil if it is opened without a key file.
    let key: Data?
    let passphrase: String?
    /// The fingerprint that a reader by an identity knows, and the file key that the identity has found.
    let fingerprint: [UInt8]?
    let fileKey: [UInt8]?
    /// The line of a member's device key; nil if the vector has no members, or nothing is to be written to it.
    let deviceKey: String?

    var description: String { name }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Interop/Vectors").standardizedFileURL

    init(_ name: String) throws {
        func file(_ kind: String) throws -> Data {
            try Data(contentsOf: VaultVector.folder.appending(path: "\(name).\(kind)"))
        }
        self.name = name
        let plain = VaultVector.plain(try file("json"))
        let expectation = try JSONDecoder().decode(Expectation.self, from: Data(plain.utf8))
        outcome = expectation.expect
        entries = expectation.entries ?? [:]
        vault = try file("vault")
        key = try? file("key")
        // Byte by byte as it is.
        passphrase = try JSONDecoder().decode(Secrets.self, from: file("json")).passphrase
        fingerprint = expectation.fingerprint?.bytes
        fileKey = expectation.fileKey?.bytes
        deviceKey = expectation.deviceKey
        sharingNonces = expectation.sharingNonces ?? []
    }

    /// A text with hex digits in place of what is not ASCII: to Swift, strings of other bytes can be the same string.
    static func plain(_ text: some Sequence<UInt8>) -> String {
        text.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "<\(String($0, radix: 16))>" }.joined()
    }

    static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".vault") }.map { String($0.dropLast(6)) }.sorted()
    }
}
