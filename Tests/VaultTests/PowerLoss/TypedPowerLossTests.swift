import Foundation
import LinuxSystem
import TestSupport
import Testing

@testable import Vault

/// A vault and preferences in one folder, on a disk that loses power.
private struct Machine {
    let folder: TemporaryFolder

    struct Stores {
        let keychain: Keychain
        let preferences: Preferences
    }

    var location: VaultLocation {
        VaultLocation(
            vault: folder.file("v/v.vault"), keyFile: folder.file("k/k.key"), rollbackMemory: folder.file("state"))
    }

    func stores(in files: any FileSystem) throws -> Stores {
        Stores(
            keychain: try Keychain(at: location, creatingIfAbsent: true, in: files),
            preferences: Preferences(
                .success(folder.file("p/p.plist")), nil, FailureLog { _, _ in }, in: files))
    }

    /// Prepares a disk, runs `work` on it until power is lost at a call, and passes on what the disk may then hold.
    ///
    /// - Returns: whether `work` was completed.
    static func losingPower(
        atCall call: Int, preparing prepare: (Stores, String) throws -> Void,
        _ work: (Stores, CrashingFileSystem, String) throws -> Void, then check: (Stores, String, Bool) throws -> Void
    ) throws -> Bool {
        let machine = Machine(folder: try TemporaryFolder())
        try prepare(machine.stores(in: PosixFileSystem()), machine.folder.path)
        let files = try CrashingFileSystem(machine.folder.path)
        var isDone = false
        do {
            let stores = try machine.stores(in: files)
            files.losePower(afterCalls: call)
            try work(stores, files, machine.folder.path)
            isDone = true
        } catch is VaultError {
            #expect(files.isOff)
        }
        for seed in 0..<4 {
            let after = Machine(folder: try TemporaryFolder())
            try files.materialize(into: after.folder.path, seed: seed)
            try check(after.stores(in: PosixFileSystem()), after.folder.path, isDone)
        }
        return isDone
    }
}

@Suite("Power loss over the typed API")
struct TypedPowerLossTests {
    /// More calls than any operation makes.
    private static let calls = 1...40

    @Test func aPreferenceIsOldOrNewAndNewOnceAcknowledged() throws {
        var done = 0
        for call in Self.calls {
            done +=
                try Machine.losingPower(atCall: call) { stores, _ in
                    try stores.preferences.set("k", .string("old"))
                } _: { stores, _, _ in
                    try stores.preferences.set("k", .string("new"))
                } then: { stores, _, isDone in
                    let value = try stores.preferences.value(of: "k")
                    #expect(value == .string("new") || !isDone && value == .string("old"))
                } ? 1 : 0
        }
        #expect(done > 0 && done < Self.calls.count)
    }

    /// What it has made may not be on the disk: folders, the key file, the vault, the property list.
    @Test(arguments: Self.calls) func whatIsAcknowledgedOutlastsAProcessThatDiedBefore(_ call: Int) throws {
        let machine = Machine(folder: try TemporaryFolder())
        let files = try CrashingFileSystem(machine.folder.path)
        files.losePower(afterCalls: call)
        let first = try? machine.stores(in: files)
        try? first?.preferences.set("k", .string("first"))
        // Only the process died.
        files.restorePower()
        let stores = try machine.stores(in: files)
        try stores.preferences.set("k", .string("new"))
        try stores.keychain.set("k", to: "new")
        for seed in 0..<6 {
            let after = Machine(folder: try TemporaryFolder())
            try files.materialize(into: after.folder.path, seed: seed)
            let found = try after.stores(in: PosixFileSystem())
            #expect(try found.preferences.value(of: "k") == .string("new"))
            #expect(try found.keychain.unsafeString("k") == "new")
        }
    }

    @Test func aValueThatMovesIsInAtLeastOneStore() throws {
        var done = 0
        for call in Self.calls {
            done +=
                try Machine.losingPower(atCall: call) { stores, _ in
                    try stores.preferences.set("token", .string("canary"))
                    try stores.keychain.set("other", to: "x")
                } _: { stores, _, _ in
                    _ = try moving(stores).read()
                } then: { stores, _, isDone in
                    let old = try stores.preferences.value(of: "token")
                    let new = try stores.keychain.value(of: "token")
                    #expect(old == .string("canary") || new == .string("canary"))
                    if isDone { #expect(old == nil && new == .string("canary")) }
                    // The next use finishes it.
                    #expect(try moving(stores).read() == "canary")
                    #expect(try stores.preferences.value(of: "token") == nil)
                } ? 1 : 0
        }
        #expect(done > 0 && done < Self.calls.count)
    }

    private func moving(_ stores: Machine.Stores) -> KeychainStorable<String> {
        KeychainStorable("token", in: .store(stores.keychain), movedFrom: .store(stores.preferences))
    }

    @Test func anImportThatIsCutOffIsFinishedByTheNext() throws {
        var done = 0
        for call in Self.calls {
            done +=
                try Machine.losingPower(atCall: call) { _, folder in
                    try overwrite(folder + "/tokens.json", #"{"token": "canary", "theme": "dark"}"#.utf8)
                } _: { stores, files, folder in
                    try importTokens(stores, folder, files)
                } then: { stores, folder, isDone in
                    if isDone { #expect(!FileManager.default.fileExists(atPath: folder + "/tokens.json")) }
                    try importTokens(stores, folder, PosixFileSystem())
                    #expect(try stores.keychain.value(of: "token") == .string("canary"))
                    #expect(try stores.preferences.value(of: "theme") == .string("dark"))
                    #expect(!FileManager.default.fileExists(atPath: folder + "/tokens.json"))
                } ? 1 : 0
        }
        #expect(done > 0 && done < Self.calls.count)
    }

    private func importTokens(_ stores: Machine.Stores, _ folder: String, _ files: any FileSystem) throws {
        _ = try PlainFile.importValues(from: folder + "/tokens.json", in: files) {
            $0 == "token" ? .store(stores.keychain) : .store(stores.preferences)
        }
    }
}
