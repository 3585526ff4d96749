private import FoundationEssentials
private import Glibc
package import Vault

/// A folder of a test's own, removed with everything in it when this object is released.
package final class TemporaryFolder: Sendable {
    /// Without symbolic links.
    package let path: String

    package init() throws(VaultError) {
        let parent = TemporaryFolder.parent
        var template = Array("\(parent)/vault-testing-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw VaultError(
                .unavailable, "Cannot create a folder for a test's stores in \(parent).", systemError: errno)
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// In memory if there is room: a flush takes milliseconds on a disk.
    private static let parent: String = {
        let memory = "/dev/shm"
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: memory)
        let room = attributes?[.systemFreeSize] as? UInt64 ?? 0
        let folder =
            room > 256 << 20 && access(memory, W_OK) == 0 ? memory : FileManager.default.temporaryDirectory.path
        return URL(filePath: folder).resolvingSymlinksInPath().path
    }()

    deinit {
        remove()
    }

    /// Removes the folder now.
    func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Returns the path of a file in the folder.
    package func file(_ name: String) -> String { "\(path)/\(name)" }
}
