import CLinux
import Glibc
import LinuxSystem

/// A lock on a terminal's device for prompts. The process whose turn it is locks one byte; waiting ones share another.
final class TurnLock: Sendable {
    private static let turn: Int64 = 0
    private static let waiting: Int64 = 1

    private let device: FileDescriptor?
    private let descriptor: Int32
    private let isOfProcess: Int32

    /// Creates the lock, or returns nil if no descriptor of `terminal` can be locked.
    init?(of terminal: Int32) {
        let opened = vault_open_terminal_device(terminal)
        if opened >= 0 {
            device = FileDescriptor(owning: opened)
            descriptor = opened
            isOfProcess = 0
            return
        }
        // After su(1), the device belongs to another user and cannot be opened, so a standard stream is locked instead.
        // Other processes share it, so the lock belongs to this process, not to the open file description.
        guard let shared = (STDIN_FILENO...STDERR_FILENO).first(where: { vault_is_same_terminal($0, terminal) != 0 })
        else { return nil }
        device = nil
        descriptor = shared
        isOfProcess = 1
    }

    var isAwaited: Bool { vault_is_byte_locked(descriptor, TurnLock.waiting, isOfProcess) != 0 }
    func tryTake() -> Bool { set(TurnLock.turn, F_WRLCK) }
    func release() { _ = set(TurnLock.turn, F_UNLCK) }
    func announce() { _ = set(TurnLock.waiting, F_RDLCK) }
    func withdraw() { _ = set(TurnLock.waiting, F_UNLCK) }

    private func set(_ byte: Int64, _ kind: Int32) -> Bool {
        while vault_lock_byte(descriptor, byte, kind, isOfProcess) != 0 { if errno != EINTR { return false } }
        return true
    }
}
