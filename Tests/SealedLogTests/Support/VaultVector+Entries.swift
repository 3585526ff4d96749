import Foundation
import LinuxSystem
import Sealing
import Testing

@testable import SealedFormat
@testable import SealedLog

extension VaultVector {
    /// The entries of a vault, as a vector describes its own.
    static func entries(of log: SealedLog) throws -> [String: Entry] {
        var found: [String: Entry] = [:]
        for entry in try log.entries() {
            let content = try #require(entry.content)
            let earlier = try entry.earlier.map {
                Version(
                    value: try value(of: $0.version, in: log), kind: $0.version.kind, modified: $0.modified,
                    attributes: plain($0.attributes), expiry: $0.expiry)
            }
            found[plain(entry.name.bytes)] = Entry(
                value: try value(of: content.current, in: log), kind: content.current.kind, modified: entry.modified,
                created: content.created, attributes: plain(content.attributes), expiry: content.expiry,
                earlier: earlier.isEmpty ? nil : earlier)
        }
        return found
    }

    private static func plain(_ attributes: [Attribute]) -> [String: String] {
        Dictionary(uniqueKeysWithValues: attributes.map { (plain($0.key.utf8), plain($0.value.utf8)) })
    }

    private static func value(of version: StoredVersion, in log: SealedLog) throws -> Data {
        var view = log.view.withLock { $0 }
        return Data(try view.sealed(version).opened().unsafeArray())
    }
}
