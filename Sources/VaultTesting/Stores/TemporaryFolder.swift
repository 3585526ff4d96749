private import FoundationEssentials
private import Glibc
package import Vault

/// A folder for one test. It is removed with its contents when this object is released.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws(VaultError) {
        let parent = TemporaryFolder.parent
        var template = Array("\(parent)/vault-testing-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            let message = "Cannot create a folder for a test's stores in \(parent)."
            throw VaultError(.unavailable, message, systemError: errno)
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The parent of the tests' folders. It is in memory if there is room, because a disk flush takes milliseconds.
    private static let parent: String = {
        let memory = "/dev/shm"
        let room = try? FileManager.default.attributesOfFileSystem(forPath: memory)[.systemFreeSize] as? UInt64
        let isUsable = room ?? 0 > 256 << 20 && access(memory, W_OK) == 0
        let folder = isUsable ? memory : FileManager.default.temporaryDirectory.path
        return URL(filePath: folder).resolvingSymlinksInPath().path
    }()

    deinit { remove() }

    /// Removes the folder immediately, even if its files are still in use.
    func remove() { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String) -> String { "\(path)/\(name)" }
}
