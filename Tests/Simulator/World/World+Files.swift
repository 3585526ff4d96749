import Glibc
import LinuxSystem
import TestSupport

extension World {
    func bytes(of key: FileKey) -> [UInt8] {
        guard case .file(let number) = key.node else { return [] }
        return disks[key.disk].files[number]?.written ?? []
    }

    /// Notes that a file has changed.
    func touch(_ key: FileKey) {
        var data = data(of: key)
        data.contentsChanged = World.now
        data.changed = World.now
        metadata[key] = data
    }

    func touchFolder(_ disk: Int, _ path: String) {
        touch(FileKey(disk: disk, node: .folder, path: path.parentFolder))
    }

    func setMode(of key: FileKey, _ mode: UInt32) {
        var data = data(of: key)
        data.mode = mode
        data.changed = World.now
        metadata[key] = data
    }

    /// A file gets the lowest inode number that is free: that of a removed one, if it is closed.
    private func data(of key: FileKey) -> Metadata {
        if let known = metadata[key] { return known }
        let used = Set(
            metadata.compactMap { $0.key.disk == key.disk && isThere($0.key) ? $0.value.inode : nil })
        let free = (2...).first { !used.contains($0) } ?? 0
        let data = Metadata(
            inode: free, mode: key.node == .folder ? 0o700 : 0o600, contentsChanged: World.now, changed: World.now)
        metadata[key] = data
        return data
    }

    private func isThere(_ key: FileKey) -> Bool {
        key.node == .folder || disks[key.disk].names.values.contains(key.node)
            || openFiles.values.contains { $0.key == key }
    }

    func status(of key: FileKey) -> FileStatus {
        let data = data(of: key)
        let names = disks[key.disk].names.values.count { $0 == key.node }
        return FileStatus(
            identity: FileStatus.Identity(device: UInt64(key.disk) + 9_000, inode: data.inode),
            size: UInt64(bytes(of: key).count), contentsChanged: data.contentsChanged, changed: data.changed,
            mode: data.mode, owner: geteuid(), group: getegid(), links: key.node == .folder ? 2 : UInt64(names),
            isRegularFile: key.node != .folder, isDirectory: key.node == .folder)
    }
}
