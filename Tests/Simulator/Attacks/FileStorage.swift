import LinuxSystem
import TestSupport

/// A vault file of a simulated disk.
final class FileStorage: VaultStorage {
    private let world: World
    private let path: String
    private let disk: Int
    private let foreign: [UInt8]
    private var backUp: [UInt8] = []
    private var change: Change?

    private struct Change {
        let node: Disk.Node
        let number: Int
        let former: [UInt8]
        let new: [UInt8]
        let isExchange: Bool
    }

    /// - Parameters:
    ///   - disk: the number of the one that has it.
    ///   - foreign: another vault; empty if there is none.
    init(_ world: World, _ path: String, disk: Int, foreign: [UInt8]) {
        self.world = world
        self.path = path
        self.disk = disk
        self.foreign = foreign
    }

    private var aside: String { path + ".aside" }

    func takeBackUp() -> Bool {
        guard let bytes = world.contents(path) else { return false }
        backUp = bytes
        return true
    }

    func exchange(for other: OtherVault, overwriting: Bool) -> Bool {
        let bytes = other == .backUp ? backUp : foreign
        return !bytes.isEmpty && replace(with: bytes, overwriting: overwriting, isExchange: true)
    }

    func changeByte(at location: Double, bit: Double) -> Bool {
        guard var bytes = world.contents(path) else { return false }
        // Small steps: most of the file is zeros ahead of the log.
        let end = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        bytes[Int(location * Double(end))] ^= 1 << UInt8(bit * 8)
        return replace(with: bytes, overwriting: true, isExchange: false)
    }

    private func replace(with bytes: [UInt8], overwriting: Bool, isExchange: Bool) -> Bool {
        guard let node = world.disks[disk].names[path], case .file(let number) = node,
            let former = world.disks[disk].files[number]?.written
        else { return false }
        change = Change(node: node, number: number, former: former, new: bytes, isExchange: isExchange)
        if overwriting {
            world.disks[disk].overwrite(number, bytes)
            world.touch(FileKey(disk: disk, node: node))
        } else {
            world.disks[disk].rename(path, to: aside)
            let new = world.disks[disk].create(path)
            world.disks[disk].overwrite(new, bytes)
            // An attack that power loss ends or brings back would be another one.
            world.disks[disk].flushFolder(path.parentFolder)
            world.touchFolder(disk, path)
        }
        return true
    }

    func putBack() -> Bool {
        guard let change else { return true }
        self.change = nil
        defer {
            world.touchFolder(disk, path)
            world.touch(FileKey(disk: disk, node: change.node))
        }
        if world.disks[disk].names[aside] != nil {
            world.disks[disk].rename(aside, to: path)
            world.disks[disk].flushFolder(path.parentFolder)
        } else if world.disks[disk].names[path] != change.node {
            return false
        } else if change.isExchange {
            world.disks[disk].overwrite(change.number, change.former)
        } else {
            undo(change)
        }
        return true
    }

    /// Undoes the changed byte, and leaves what was written since.
    private func undo(_ change: Change) {
        guard var bytes = world.disks[disk].files[change.number]?.written else { return }
        for index in change.former.indices where change.former[index] != change.new[index] {
            if bytes[index] == change.new[index] { bytes[index] = change.former[index] }
        }
        world.disks[disk].overwrite(change.number, bytes)
    }
}
