import Foundation
import TestSupport
import Testing

@testable import Vault
@testable import VaultAccount

/// A migration that is cut off at any call: the account is whole in one place at least, and the next migration finishes
/// it.
@Suite("A migration that is cut off")
struct MigrationCrashTests {
    /// How calls fail.
    private static let faults: [Fault] = [.error(EIO), .afterwards(EIO), .short(5, ENOSPC)]

    @Test(arguments: OldMachine.Copy.allCases, faults)
    func isFinishedAfterAnyCallThatFails(_ copy: OldMachine.Copy, _ fault: Fault) async throws {
        var skipped = 0
        var failed = true
        while failed {
            let machine = OldMachine(folder: try TemporaryFolder(), copy: copy)
            try machine.leave()
            let files = FaultyFileSystem()
            try attempt(machine, files) { files.fail(Set(FileCall.allCases), after: skipped, with: fault) }
            failed = files.failures > 0
            // A process has one core of a vault, whoever opens it.
            files.heal()
            try await expectWhole(machine, "\(fault) after \(skipped) calls")
            skipped += 1
        }
        #expect(skipped > 30)
    }

    /// - Parameter isKilled: whether only the program dies at the call. The next one reads what is not on the disk yet,
    ///   and finishes the migration; then power is lost.
    @Test(arguments: OldMachine.Copy.allCases, [false, true])
    func isFinishedAfterPowerLossAtAnyCall(_ copy: OldMachine.Copy, isKilled: Bool) async throws {
        var calls = 0
        var isDone = false
        while !isDone {
            calls += 1
            let machine = OldMachine(folder: try TemporaryFolder(), copy: copy)
            try machine.leave()
            let files = try CrashingFileSystem(machine.folder.path)
            var outcome = try migrate(machine, files, losingPowerAtCall: calls)
            isDone = outcome != nil
            if isKilled {
                files.restorePower()
                outcome = try migrate(machine, files)
                #expect(outcome != nil)
            }
            for seed in 0..<4 {
                let after = OldMachine(folder: try TemporaryFolder(), copy: copy)
                try files.materialize(into: after.folder.path, seed: seed)
                // A plain copy whose removal was not flushed may come back, and be removed again.
                if let outcome, outcome != .nothingFound { #expect(try after.filesWithSecrets() == []) }
                try await expectWhole(after, "\(isKilled ? "killed" : "power lost") at call \(calls), seed \(seed)")
            }
        }
        #expect(calls > 10)
    }

    /// - Returns: nil if power was lost before the end.
    private func migrate(
        _ machine: OldMachine, _ files: CrashingFileSystem, losingPowerAtCall calls: Int? = nil
    ) throws -> AccountMigration.Outcome? {
        do {
            let stores = try machine.stores(in: files)
            if let calls { files.losePower(afterCalls: calls) }
            return try machine.manager(stores).migrate(from: machine.source(stores, in: files)).outcome
        } catch is AccountError {
            #expect(files.isOff)
            return nil
        }
    }

    /// A migration in which calls fail.
    private func attempt(_ machine: OldMachine, _ files: FaultyFileSystem, _ plan: () -> Void) throws {
        let stores = try machine.stores(in: files)
        plan()
        do {
            try machine.manager(stores).migrate(from: machine.source(stores, in: files))
        } catch {
            guard case .store = error else { throw error }
            #expect(files.failures == 1)
        }
    }

    private func expectWhole(_ machine: OldMachine, _ comment: Comment) async throws {
        let stores = try machine.stores()
        let isOut = try machine.copyIsWhole(stores)
        let isIn = try machine.vaultHasAll(stores)
        #expect(isOut || isIn, comment)
        // Without the next migration too the account is wholly in, or wholly out.
        if machine.copy != .keys {
            let state = await machine.manager(stores).autoLogin()
            #expect(state.isLoggedIn == isIn, comment)
            if isIn, machine.copy == .json || machine.copy == .list {
                #expect(state.account?.profile == Profile(nickname: "Ada", points: 10), comment)
            }
        }
        try machine.manager(stores).migrate(from: machine.source(stores))
        #expect(try machine.vaultHasAll(stores), comment)
        #expect(try machine.filesWithSecrets() == [], comment)
        let rest = machine.copy == .keys ? ["waiting"] : ["current", "session/\(machine.accountID)"]
        #expect(try AccountVault(stores.keychain).store.keys(prefix: "") == rest, comment)
        #expect(try machine.manager(stores).lastUserName() == "ada", comment)
        #expect(await machine.manager(stores).autoLogin().account?.userName == "ada", comment)
    }
}

extension OldMachine {
    fileprivate var accountID: String { copy == .sharedKeys ? "ada" : "id-ada" }
}
