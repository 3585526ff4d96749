import Foundation
import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

/// Secrets as text, and the system calls that change what a thread may do with keyrings.
enum Keyring {
    /// Why the kernel's keyring cannot be used here; nil if it can.
    static let refusal: SystemError? = {
        do throws(SystemError) {
            try withProbe { _ in }
            return nil
        } catch { return error }
    }()

    /// What a skipped test says.
    static var reason: Comment { Comment(rawValue: refusal.map(KernelKeyring.sentence) ?? "") }

    /// Whether /proc/keys lists this user's keys. Containers mask it.
    static let isListed: Bool = {
        var isListed = false
        try? withProbe { isListed = (try? lines($0).isEmpty) == false }
        return isListed
    }()

    private static func withProbe(_ body: (String) -> Void) throws(SystemError) {
        let name = "vault-test:probe:\(UUID().uuidString)"
        try store("probe", as: name, timeout: 10, scope: .user)
        body(name)
        _ = try KernelKeyring.remove(name)
    }

    /// How many bytes of keys this user may have.
    static let quota: Int = {
        let file = "/proc/sys/kernel/keys/" + (getuid() == 0 ? "root_maxbytes" : "maxbytes")
        let text = try? kernelText(file)
        return text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? .max
    }()

    static func store(
        _ text: String, as name: String, timeout: UInt32 = 3_600, scope: KernelKeyring.Scope
    ) throws(SystemError) {
        try Array(text.utf8).withRawBytes { (bytes) throws(SystemError) in
            try KernelKeyring.store(bytes, as: name, timeout: timeout, scope: scope)
        }
    }

    static func read(_ name: String, room: Int = KernelKeyring.maximumSize) throws -> String? {
        var bytes = [UInt8](repeating: 0, count: room)
        let count = try bytes.withMutableRawBytes { (bytes) throws(SystemError) in
            try KernelKeyring.read(name, into: bytes)
        }
        return count.map { String(decoding: bytes[..<$0], as: UTF8.self) }
    }

    /// The lines of /proc/keys with a description.
    static func lines(_ name: String) throws -> [Substring] {
        try kernelText("/proc/keys").split(separator: "\n").filter { $0.contains(name) }
    }

    // MARK: System calls

    // Swift cannot call syscall(2), which has a variable number of arguments. On x86-64 and arm64 they are passed like
    // any others.
    private typealias Call = @convention(c) (Int, Int, Int, Int, Int, Int) -> Int

    private static func call(_ number: Int, _ first: Int, _ second: Int, _ third: Int) throws {
        let function = try #require(dlsym(nil, "syscall"))
        let result = unsafeBitCast(function, to: Call.self)(number, first, second, third, 0, 0)
        guard result >= 0 else { throw SystemError(errno, "call \(number)") }
    }

    #if arch(x86_64)
        private static let addKey = 248
        private static let keyctl = 250
        private static let prctl = 157
    #else
        private static let addKey = 217
        private static let keyctl = 219
        private static let prctl = 167
    #endif

    /// Gives the calling thread a new session keyring without a link to the user's, as `su`, `sudo` and containers do.
    static func joinNewSession() throws { try call(keyctl, 1, 0, 0) }

    /// Revokes the session's keyring, as logging out does.
    static func endSession() throws { try call(keyctl, 3, -3, 0) }

    /// Lets the calling thread's use of keyrings fail, as a container's seccomp profile does; or one operation of
    /// keyctl(2).
    static func refuse(with number: Int32, operation: UInt32? = nil) throws {
        func instruction(_ code: UInt16, _ yes: UInt8, _ no: UInt8, _ value: UInt32) -> UInt64 {
            UInt64(code) | UInt64(yes) << 16 | UInt64(no) << 24 | UInt64(value) << 32
        }
        // struct sock_filter, seccomp(2): 0x20 loads the call's number or its first argument, 0x15 compares and skips.
        let refused: [UInt64]
        if let operation {
            refused = [
                instruction(0x20, 0, 0, 0), instruction(0x15, 0, 2, UInt32(keyctl)), instruction(0x20, 0, 0, 16),
                instruction(0x15, 1, 0, operation),
            ]
        } else {
            refused = [
                instruction(0x20, 0, 0, 0), instruction(0x15, 2, 0, UInt32(addKey)),
                instruction(0x15, 1, 0, UInt32(keyctl)),
            ]
        }
        let filter =
            refused + [
                instruction(0x06, 0, 0, 0x7FFF_0000), instruction(0x06, 0, 0, 0x0005_0000 | UInt32(number)),
            ]
        try filter.withUnsafeBufferPointer { filter in
            let program = [filter.count, Int(bitPattern: filter.baseAddress)]
            try program.withUnsafeBufferPointer {
                try call(prctl, 38, 1, 0)
                try call(prctl, 22, 2, Int(bitPattern: $0.baseAddress))
            }
        }
    }
}
