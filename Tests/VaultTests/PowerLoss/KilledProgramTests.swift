import Foundation
import LinuxSystem
import TestSupport
import Testing

@testable import Vault

/// A folder with a program's stores, and the values of an older version.
private struct Program {
    let folder: String
    let files: any FileSystem

    init(_ folder: String, in files: any FileSystem = PosixFileSystem()) {
        self.folder = folder
        self.files = files
    }

    var plainFile: String { folder + "/tokens.json" }

    func keychain() throws -> Keychain {
        let location = VaultLocation(
            vault: folder + "/v/v.vault", keyFile: folder + "/k/k.key", rollbackMemory: folder + "/state")
        return try Keychain(at: location, creatingIfAbsent: true, in: files)
    }

    func preferences(_ name: String = "p") -> Preferences {
        Preferences(.success(folder + "/\(name)/\(name).plist"), nil, FailureLog { _, _ in }, in: files)
    }

    func old() -> Preferences { preferences("old") }

    func store(_ home: NewHome) throws -> any ValueStore {
        switch home {
        case .keychain: try keychain()
        case .preferences: preferences()
        case .scope: preferences().scoped(to: "user")
        }
    }
}

/// The store to which a value moves.
enum NewHome: CaseIterable {
    case keychain, preferences, scope
}

/// A program is killed: the next one can read what it wrote, although it is not on the disk yet. That one finishes the
/// work, and then power is lost.
@Suite("What a killed program leaves to the next")
struct KilledProgramTests {
    /// - Parameter holds: returns whether the disk may still have the value.
    private func killingAtEachCall(
        preparing prepare: (Program) throws -> Void, _ work: (Program) throws -> Void,
        _ holds: (Program) throws -> Bool
    ) throws {
        var killed = 0
        for call in 1...80 {
            let folder = try TemporaryFolder()
            try prepare(Program(folder.path))
            let disk = try CrashingFileSystem(folder.path)
            disk.losePower(afterCalls: call)
            do { try work(Program(folder.path, in: disk)) } catch is VaultError {}
            guard disk.isOff else { break }
            killed += 1
            disk.restorePower()
            try work(Program(folder.path, in: disk))
            for seed in 0..<6 {
                let after = try TemporaryFolder()
                try disk.materialize(into: after.path, seed: seed)
                #expect(try holds(Program(after.path)), "killed at call \(call)")
            }
        }
        #expect(killed > 0 && killed < 80)
    }

    @Test(arguments: NewHome.allCases, [false, true])
    func aMovedValueIsOnTheDiskBeforeTheOldOneGoes(_ home: NewHome, isThere: Bool) throws {
        try killingAtEachCall { program in
            if isThere { _ = try program.store(home).commit(StoreBatch(["other": .integer(1)])) }
            try program.old().set("token", .string("canary"))
        } _: { program in
            let key = Storable<String>("token", in: .store(try program.store(home)), movedFrom: .store(program.old()))
            #expect(try key.read() == "canary")
        } _: { program in
            try program.old().value(of: "token") != nil || program.store(home).value(of: "token") != nil
        }
    }

    @Test(arguments: NewHome.allCases, [false, true])
    func anImportedValueIsOnTheDiskBeforeTheFileGoes(_ home: NewHome, isThere: Bool) throws {
        try killingAtEachCall { program in
            if isThere { _ = try program.store(home).commit(StoreBatch(["other": .integer(1)])) }
            try overwrite(program.plainFile, #"{"token": "canary"}"#.utf8)
        } _: { program in
            let store = try program.store(home)
            _ = try PlainFile.importValues(from: program.plainFile, in: program.files) { _ in .store(store) }
        } _: { program in
            try FileManager.default.fileExists(atPath: program.plainFile)
                || program.store(home).value(of: "token") != nil
        }
    }

    @Test func aPreferenceThatIsSetAnewIsOnTheDiskOnceAcknowledged() throws {
        try killingAtEachCall { program in
            try program.preferences().set("k", .string("old"))
        } _: { program in
            try program.preferences().set("k", .string("new"))
        } _: { program in
            try program.preferences().value(of: "k") == .string("new")
        }
    }

    @Test func aMoveWhoseOutcomeIsUnknownIsFlushedBeforeItIsFinished() throws {
        var unknown = 0
        for call in 1...14 {
            let folder = try TemporaryFolder()
            try Program(folder.path).old().set("k", .string("canary"))
            try Program(folder.path).preferences().set("other", .integer(1))
            let disk = try CrashingFileSystem(folder.path)
            let program = Program(folder.path, in: disk)
            // The stores stay open, as in a program that tries again.
            let key = Storable<String>("k", in: .store(program.preferences()), movedFrom: .store(program.old()))
            disk.losePower(afterCalls: call)
            guard try VaultError.code({ _ = try key.read() }) == .outcomeUnknown else { continue }
            unknown += 1
            disk.restorePower()
            #expect(try key.read() == "canary")
            for seed in 0..<20 {
                let after = Program(try TemporaryFolder().path)
                try disk.materialize(into: after.folder, seed: seed)
                #expect(try after.old().value(of: "k") != nil || after.preferences().value(of: "k") != nil)
            }
        }
        #expect(unknown > 0)
    }
}
