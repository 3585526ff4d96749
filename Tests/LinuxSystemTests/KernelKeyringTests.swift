import Foundation
import Glibc
import Testing

@testable import LinuxSystem

@Suite(
    "A secret in the kernel's keyring",
    .enabled(if: Keyring.refusal == nil, Keyring.reason))
struct KernelKeyringTests {
    /// Unlike that of any other test, also of one that runs at the same time in another process.
    private let name = "vault-test:\(UUID().uuidString):"

    @Test(arguments: KernelKeyring.Scope.allCases) func isReadUntilItIsRemoved(scope: KernelKeyring.Scope) throws {
        #expect(try Keyring.read(name) == nil)
        try Keyring.store("first", as: name, scope: scope)
        #expect(try Keyring.read(name) == "first")
        #expect(try Keyring.read(name + "x") == nil)
        #expect(try KernelKeyring.remove(name))
        #expect(try Keyring.read(name) == nil)
        #expect(try !KernelKeyring.remove(name))
    }

    @Test(arguments: KernelKeyring.Scope.allCases) func replacesTheEarlierOne(scope: KernelKeyring.Scope) throws {
        for text in ["first", "second", "a longer third"] {
            try Keyring.store(text, as: name, scope: scope)
            #expect(try Keyring.read(name) == text)
        }
        #expect(try KernelKeyring.removeAll(prefix: name) == 1)
    }

    @Test func isNeverMissingWhileItIsReplaced() async throws {
        try Keyring.store("0", as: name, scope: .user)
        let name = name
        async let last = Task.detached {
            for number in 1...40 { try Keyring.store("\(number)", as: name, scope: .user) }
        }.value
        for _ in 0..<2_000 { #expect(try Keyring.read(name) != nil) }
        try await last
        #expect(try Keyring.read(name) == "40")
        #expect(try KernelKeyring.remove(name))
    }

    @Test func ofTheSessionGoesBeforeThatOfTheUserAndBothAreRemoved() throws {
        try Keyring.store("user", as: name, scope: .user)
        try Keyring.store("session", as: name, scope: .session)
        #expect(try Keyring.read(name) == "session")
        #expect(try KernelKeyring.remove(name))
        #expect(try Keyring.read(name) == nil)
    }

    @Test func isRemovedByThePrefixOfItsDescription() throws {
        try Keyring.store("1", as: name + "a;1", scope: .user)
        try Keyring.store("2", as: name + "a;2", scope: .session)
        try Keyring.store("3", as: name + "b", scope: .user)
        #expect(try KernelKeyring.removeAll(prefix: name + "a;") == 2)
        #expect(try Keyring.read(name + "a;1") == nil)
        #expect(try Keyring.read(name + "a;2") == nil)
        #expect(try Keyring.read(name + "b") == "3")
        #expect(try KernelKeyring.removeAll(prefix: name) == 1)
        #expect(try KernelKeyring.removeAll(prefix: name) == 0)
    }

    @Test(arguments: KernelKeyring.Scope.allCases) func isUnreadableAfterItsTime(scope: KernelKeyring.Scope)
        async throws
    {
        try Keyring.store("short", as: name, timeout: 1, scope: scope)
        #expect(try Keyring.read(name) == "short")
        try await Task.sleep(for: .milliseconds(2_100))
        #expect(try Keyring.read(name) == nil)
        #expect(try !KernelKeyring.remove(name))
        // The kernel lists it until it wipes it, five minutes later.
        #expect(try Keyring.lines(name).allSatisfy { $0.contains(" expd ") })
    }

    @Test func afterItsTimeGivesWayToANewOne() async throws {
        try Keyring.store("old", as: name, timeout: 1, scope: .session)
        try Keyring.store("user", as: name, scope: .user)
        try await Task.sleep(for: .milliseconds(2_100))
        #expect(try Keyring.read(name) == "user")
        try Keyring.store("new", as: name, scope: .session)
        #expect(try Keyring.read(name) == "new")
        #expect(try KernelKeyring.remove(name))
    }

    @Test(.enabled(if: Keyring.isListed, "/proc/keys is masked here"))
    func mayBeReadByItsOwnerAloneAndWrittenByNobody() throws {
        try Keyring.store("kept", as: name, scope: .user)
        defer { _ = try? KernelKeyring.remove(name) }
        let line = try #require(Keyring.lines(name).first)
        #expect(line.split(separator: " ")[4] == "3b3b0000")
        #expect(!line.contains("perm"))
    }

    @Test func ofAnySizeUpToTheLimitComesBackWhole() throws {
        // An ordinary user may have 20,000 bytes, and the kernel frees replaced keys a little later.
        let sizes = Keyring.quota > 1 << 20 ? [1, 32, 4_096, KernelKeyring.maximumSize] : [1, 32, 1_000]
        for size in sizes {
            let text = String(repeating: "s", count: size)
            try Keyring.store(text, as: name, scope: .user)
            #expect(try Keyring.read(name) == text)
        }
        let error = #expect(throws: SystemError.self) { try Keyring.read(name, room: 999) }
        #expect(error?.number == EMSGSIZE)
        #expect(try KernelKeyring.remove(name))
    }

    @Test func outOfBoundsIsRefused() throws {
        let long = String(repeating: "x", count: 4_096)
        let calls: [() throws -> Void] = [
            { try Keyring.store("", as: name, scope: .user) },
            { try Keyring.store(String(repeating: "s", count: 32_768), as: name, scope: .user) },
            { try Keyring.store("s", as: name, timeout: 0, scope: .user) },
            { try Keyring.store("s", as: "", scope: .user) }, { try Keyring.store("s", as: long, scope: .user) },
            { try Keyring.store("s", as: name + "\0", scope: .user) },
            { _ = try Keyring.read("") }, { _ = try KernelKeyring.remove(name + "\0") },
        ]
        for call in calls { #expect(throws: SystemError.self) { try call() } }
        #expect(try KernelKeyring.removeAll(prefix: name) == 0)
        let longest = name + String(repeating: "x", count: 4_095 - name.utf8.count)
        try Keyring.store("s", as: longest, scope: .session)
        #expect(try Keyring.read(longest) == "s")
        #expect(try KernelKeyring.removeAll(prefix: name) == 1)
    }

    @Test(.enabled(if: Keyring.quota < 32_767, "root's quota is too large to be used up"))
    func beyondTheQuotaIsRefusedAndTheEarlierOneStays() throws {
        try Keyring.store("small", as: name, scope: .user)
        let large = String(repeating: "s", count: 32_767)
        let error = #expect(throws: SystemError.self) { try Keyring.store(large, as: name, scope: .user) }
        #expect(error?.number == EDQUOT)
        #expect(try Keyring.read(name) == "small")
        #expect(try KernelKeyring.remove(name))
    }
}

/// Each in a process of its own, which changes its session or what it may call.
@Suite(
    "A secret in the kernel's keyring, elsewhere", .enabled(if: Keyring.refusal == nil, Keyring.reason))
struct KernelKeyringProcessTests {
    @Test func ofTheUserIsFoundByANewSessionAndOneOfTheSessionIsNot() async {
        await #expect(processExitsWith: .success) {
            let name = "vault-test:\(UUID().uuidString)"
            try Keyring.joinNewSession()
            try Keyring.store("user", as: name + "u", scope: .user)
            try Keyring.store("session", as: name + "s", scope: .session)
            try Keyring.joinNewSession()
            #expect(try Keyring.read(name + "u") == "user")
            #expect(try Keyring.read(name + "s") == nil)
            try Keyring.store("new", as: name + "s", scope: .session)
            #expect(try Keyring.read(name + "s") == "new")
            try Keyring.store("again", as: name + "u", scope: .user)
            #expect(try Keyring.read(name + "u") == "again")
            #expect(try KernelKeyring.removeAll(prefix: name) == 2)
        }
    }

    @Test func ofTheUserIsKeptWhenTheSessionEnds() async {
        await #expect(processExitsWith: .success) {
            let name = "vault-test:\(UUID().uuidString)"
            try Keyring.joinNewSession()
            try Keyring.store("user", as: name, scope: .user)
            try Keyring.store("session", as: name, scope: .session)
            try Keyring.endSession()
            #expect(try Keyring.read(name) == "user")
            let error = try #require(throws: SystemError.self) {
                try Keyring.store("session", as: name, scope: .session)
            }
            #expect(error.number == EKEYREVOKED)
            #expect(try KernelKeyring.removeAll(prefix: name) == 1)
            #expect(try Keyring.read(name) == nil)
        }
    }

    /// KEYCTL_SETPERM, KEYCTL_LINK, KEYCTL_SET_TIMEOUT.
    @Test(arguments: [5, 8, 15] as [UInt32]) func isNotLeftBehindHalfMade(failing: UInt32) async {
        await #expect(processExitsWith: .success) { [failing] in
            let name = "vault-test:\(UUID().uuidString)"
            try Keyring.store("earlier", as: name, scope: .user)
            try Keyring.refuse(with: EACCES, operation: failing)
            let error = try #require(throws: SystemError.self) { try Keyring.store("later", as: name, scope: .user) }
            #expect(error.number == EACCES)
            #expect(try Keyring.read(name) == "earlier")
            #expect(try KernelKeyring.removeAll(prefix: name) == 1)
            // The kernel removes both a little later.
            for _ in 0..<100 where try !Keyring.lines(name).isEmpty { usleep(10_000) }
            #expect(try Keyring.lines(name).isEmpty)
        }
    }

    @Test(arguments: [EPERM, ENOSYS]) func isRefusedByASeccompProfileWithAReason(number: Int32) async {
        await #expect(processExitsWith: .success) { [number] in
            try Keyring.refuse(with: number)
            let calls: [() throws -> Void] = [
                { try Keyring.store("s", as: "vault-test:refused", scope: .user) },
                { _ = try Keyring.read("vault-test:refused") }, { _ = try KernelKeyring.remove("vault-test:refused") },
                { _ = try KernelKeyring.removeAll(prefix: "vault-test:refused") },
            ]
            for call in calls {
                let error = try #require(throws: SystemError.self) { try call() }
                #expect(error.number == number)
                #expect(KernelKeyring.sentence(for: error).contains("seccomp"))
            }
        }
    }
}

@Suite("What to do about a refused keyring")
struct KernelKeyringSentenceTests {
    @Test(arguments: [
        (EPERM, "seccomp"), (ENOSYS, "seccomp"), (EACCES, "keyctl link @u @s"), (EDQUOT, "maxkeys"),
        (EKEYREVOKED, "Log in again"), (EINVAL, "32,767"), (EMSGSIZE, "larger"), (ENOMEM, "Cannot allocate memory."),
    ])
    func isSaidInASentence(number: Int32, words: String) {
        let sentence = KernelKeyring.sentence(for: SystemError(number, "store a secret in the kernel's keyring"))
        #expect(sentence.hasPrefix("Cannot store a secret in the kernel's keyring. "))
        #expect(sentence.contains(words) && sentence.hasSuffix("."))
    }
}
