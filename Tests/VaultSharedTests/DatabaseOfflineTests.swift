import Foundation
import Glibc
import LinuxSystem
import TestSupport
import Testing
import Vault
import VaultTesting

@testable import SealedFormat
@testable import SealedLog
@testable import VaultShared

@Suite("Changes made while no server answers", .needsServer, .timeLimit(.minutes(10)))
struct DatabaseOfflineTests {
    /// The process that went offline stays open while another one merges what it has changed.
    @Test func whatAnotherProcessHasMergedIsReadFromTheDatabase() throws {
        let fixture = try DatabaseFixture()
        // One process has one log of a vault, unless the memory has another name.
        var location = fixture.location()
        location.rollbackMemory = fixture.folder.file("./one.state")
        let online = try Keychain(at: location, creatingIfAbsent: true)
        try online.set("a", to: "old")
        var options = Keychain.Options()
        options.offline = .always
        let away = try Keychain(at: fixture.location(), options: options)
        for round in 0..<2 {
            try away.set("a", to: "offline \(round)")
            #expect(try away.unsafeString("a") == "offline \(round)")
            #expect(try online.unsafeString("a") == (round == 0 ? "old" : "offline 0"))
            #expect(try Keychain(at: location).copies.offlineChanges?.changed == ["a"])
            try online.set("b", to: "\(round)")
            // It looks whether its file is there every 50 ms.
            Clock.sleep(microseconds: 100_000)
            #expect(try away.unsafeString("a") == "offline \(round)")
            #expect(try away.unsafeString("b") == "\(round)")
        }
        #expect(try fixture.open(machine: "other").unsafeString("a") == "offline 1")
        _ = try online.maintenance.verify()
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func whatAnotherUserHasChangedIsNotMerged() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        try fixture.openOffline().set("a", to: "offline")
        let pending = try #require(try fixture.storeLocation().pending())
        try #require(chown(pending.path, 65_534, 65_534) == 0)
        let error = #expect(throws: LogError.self) { _ = try pending.open(.fresh) }
        #expect(error?.code == .untrustworthy && error?.detail.contains(pending.path) == true)
        #expect(throws: VaultError.self) { try fixture.openOffline() }
        #expect(try fixture.open().unsafeString("a") == "old")
        try #require(chown(pending.path, 0, 0) == 0)
        #expect(try Keychain(at: fixture.location()).unsafeString("a") == "offline")
    }

    /// Another process may be adding to it, or to the vault.
    @Test func whatCannotBeMergedYetIsKept() throws {
        let fixture = try DatabaseFixture()
        var options = Keychain.Options()
        options.lockTimeout = .milliseconds(100)
        let storeLocation = try fixture.storeLocation()
        var location = fixture.location()
        location.rollbackMemory = fixture.folder.file("./one.state")
        func merged() throws -> [String]? {
            try Keychain(at: location, options: options).copies.offlineChanges?.changed
        }
        try fixture.open().set("a", to: "old")
        try fixture.openOffline().set("a", to: "offline")
        for store in [try #require(try storeLocation.pending()).open(.fresh), try storeLocation.open(.fresh)] {
            let lock = try store.locked(.exclusive, until: Deadline(after: .seconds(5)))
            // Whoever read the vault now would not find what was acknowledged.
            let error = #expect(throws: VaultError.self) { try merged() }
            #expect(error?.code == .busy)
            #expect(try storeLocation.pending() != nil)
            _ = consume lock
        }
        #expect(try merged() == ["a"])
        #expect(try storeLocation.pending() == nil)
        #expect(try fixture.open(machine: "other").unsafeString("a") == "offline")
    }

    /// Somebody who was shut out by the rotation could have changed the copy: it is set aside, and taken by name.
    @Test func whatWasChangedOfflineBeforeARotationIsSetAside() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        try fixture.openOffline().set("a", to: "offline")
        let storeLocation = try fixture.storeLocation()
        try fixture.open(machine: "other").vaultKeys.rotateDataKey()
        let keychain = try fixture.open()
        let merge = try #require(keychain.copies.offlineChanges)
        #expect(merge.refused == ["a"] && merge.changed == [] && merge.isOfFormerKey)
        #expect(try keychain.unsafeString("a") == "old")
        #expect(try storeLocation.pending() == nil)
        #expect(try fixture.open().copies.offlineChanges == nil)
        let kept = try #require(merge.keptAt)
        let taken = try keychain.copies.merge(
            keychain.copies.copy(at: kept), taking: NamesTaken(["a"]), keepingKeys: [], progress: nil)
        #expect(taken.changed == ["a"])
        #expect(try fixture.open(machine: "other").unsafeString("a") == "offline")
    }

    /// The key that has opened the vault when the copy was begun is no more; another one opens both.
    @Test func whatWasChangedOfflineIsMergedThoughItsKeySlotIsGone() throws {
        let fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        try keychain.set("a", to: "old")
        try keychain.members.add("mia", device: nil, recipient: nil)
        try fixture.openOffline().set("a", to: "offline")
        try keychain.vaultKeys.addKeyFile(at: fixture.folder.file("second.key"))
        var location = fixture.location()
        location.keyFile = fixture.folder.file("second.key")
        location.rollbackMemory = fixture.folder.file("two.state")
        let second = try Keychain(at: location)
        try second.vaultKeys.remove(second.vaultKeys.all()[0])
        try second.vaultKeys.rotateDataKey()
        // The same file, in another slot.
        try second.vaultKeys.addKeyFile(at: fixture.folder.file("key"))
        let merge = try #require(try fixture.open().copies.offlineChanges)
        #expect(merge.refused == [] && merge.changed == ["a"])
        #expect(try second.unsafeString("a") == "offline")
    }

    /// Whoever is a member still has signed it.
    @Test func whatAMemberHasChangedOfflineBeforeARotationIsMerged() throws {
        let fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        try keychain.set("a", to: "old")
        try keychain.members.add("mia", device: nil, recipient: nil)
        try fixture.openOffline().set("a", to: "offline")
        try keychain.vaultKeys.rotateDataKey()
        let merge = try #require(try fixture.open().copies.offlineChanges)
        #expect(merge.refused == [] && merge.changed == ["a"])
        #expect(try fixture.storeLocation().pending() == nil)
        #expect(try fixture.open(machine: "other").unsafeString("a") == "offline")
        _ = try fixture.open().maintenance.verify()
    }

    /// The server goes between the opening of the vault and the merge, so that the log turns to the copy itself.
    @Test func aCopyIsNotMergedIntoItself() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        let (storeLocation, log) = try fixture.openLog()
        try fixture.openOffline().set("a", to: "offline")
        let pending = try #require(try storeLocation.pending())
        #expect(storeLocation.noteFailure(LogError(.unreachable)))
        try log.reopen()
        #expect(log.keepsChangesApart)
        let error = #expect(throws: LogError.self) { try fixture.mergePending(pending, into: log) }
        #expect(error?.code == .unreachable)
        #expect(try fixture.open().copies.offlineChanges?.changed == ["a"])
        #expect(try fixture.open(machine: "other").unsafeString("a") == "offline")
    }

    /// Moments in a merge: when the copy is locked, when it is read, before its entries are written, before the vault's
    /// header is replaced, and in between.
    private static let moments: [(FileCall, String, Int)] = [
        (.lock, "-offline.vault", 0), (.read, "-offline.vault", 0), (.read, ".seen", 0), (.read, ".seen", 1),
        (.read, ".vault", 17),
    ]

    /// Files that run `body` at a moment in a merge.
    private func files(at moment: (FileCall, String, Int), _ body: @escaping @Sendable () throws -> Void)
        -> FaultyFileSystem
    {
        let files = FaultyFileSystem()
        let calls = Mutex((isMerging: false, left: moment.2))
        for kind in [FileCall.lock, .read] {
            files.watch(kind) { call in
                let isReached = calls.withLock { calls in
                    let isOfCopy = call.path.hasSuffix("-offline.vault")
                    calls.isMerging = calls.isMerging || isOfCopy && call.kind == .lock
                    guard calls.isMerging, call.kind == moment.0, call.path.hasSuffix(moment.1) else { return false }
                    calls.left -= 1
                    return calls.left == -1
                }
                if isReached { #expect(throws: Never.self) { try body() } }
            }
        }
        return files
    }

    private func open(_ fixture: DatabaseFixture, in files: FaultyFileSystem) throws -> Keychain {
        var options = Keychain.Options()
        options.offline = .ifUnreachable
        options.lockTimeout = .seconds(2)
        return try Keychain(at: fixture.location(), creatingIfAbsent: false, options: options, in: files)
    }

    /// The process that merges holds the copy's lock, and must not wait for it when it turns to the copy itself. If the
    /// server is back at once, the merge is done.
    @Test(arguments: [false, true]) func aServerThatGoesInAMergeIsNoFailure(isBack: Bool) throws {
        let cluster = try Cluster()
        let fixture = try DatabaseFixture(in: cluster)
        try fixture.open().set("a", to: "old")
        for moment in Self.moments {
            let value = "\(moment)"
            try fixture.openOffline().set("a", to: value)
            let isReached = Flag()
            let files = files(at: moment) {
                isReached.set()
                try isBack ? cluster.crash() : cluster.stop()
            }
            let keychain = try open(fixture, in: files)
            #expect(isReached.isSet)
            #expect(try keychain.unsafeString("a") == value)
            #expect(try (fixture.storeLocation().pending() == nil) == isBack)
            if !isBack { try cluster.start() }
            #expect(try fixture.open().unsafeString("a") == value)
            #expect(try fixture.storeLocation().pending() == nil)
        }
    }

    /// No server answers while the merge is committed, and one does when the log is opened anew.
    @Test func aMergeThatIsLostIsTriedAgain() throws {
        let cluster = try Cluster()
        let fixture = try DatabaseFixture(in: cluster)
        try fixture.open().set("a", to: "old")
        try fixture.openOffline().set("a", to: "offline")
        let (isDown, isBack) = (Flag(), Flag())
        let files = files(at: (.read, ".seen", 0)) {
            try cluster.stop()
            isDown.set()
        }
        files.watch(.status) { call in
            guard isDown.isSet, !isBack.isSet, call.path.hasSuffix(".seen") else { return }
            isBack.set()
            #expect(throws: Never.self) { try cluster.start() }
        }
        let keychain = try open(fixture, in: files)
        #expect(isBack.isSet)
        #expect(keychain.copies.offlineChanges?.changed == ["a"])
        #expect(try fixture.storeLocation().pending() == nil)
        #expect(try fixture.open(machine: "other").unsafeString("a") == "offline")
    }

    /// A compaction puts another file in the copy's place.
    @Test func whatWasCompactedOfflineIsNoAlarmAndIsMerged() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        let offline = try fixture.openOffline()
        try offline.set("a", to: "offline")
        try offline.eraseRemoved()
        try offline.set("b", to: "offline, too")
        #expect(try fixture.open().copies.offlineChanges?.changed == ["a", "b"])
        #expect(try fixture.storeLocation().pending() == nil)
        let other = try fixture.open(machine: "other")
        #expect(try other.unsafeString("a") == "offline")
        #expect(try other.unsafeString("b") == "offline, too")
    }

    /// A merge does not take them over, so that they would be reported as done in vain.
    @Test func theHeaderIsNotChangedOffline() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        let (storeLocation, log) = try fixture.openLog()
        try fixture.openOffline().set("a", to: "offline")
        #expect(storeLocation.noteFailure(LogError(.unreachable)))
        try log.reopen()
        #expect(log.keepsChangesApart)
        let former = try log.keySlots().history
        let error = #expect(throws: LogError.self) {
            _ = try log.changeKeys(timeout: .seconds(5)) { (table) throws(LogError) in
                table.history = KeptHistory(versions: 1, days: 2)
            }
        }
        #expect(error?.code == .unreachable)
        #expect(try log.keySlots().history == former)
        #expect(try fixture.open().copies.offlineChanges?.changed == ["a"])
    }

    /// A command that has read all from the server does not look there again before it shows something.
    @Test func afterAnotherProcessHasMergedItTheVaultIsReadAnew() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        try fixture.openOffline().set("a", to: "offline")
        try FileManager.default.removeItem(atPath: fixture.folder.file("one.cache"))
        let (storeLocation, log) = try fixture.openLog(isShortLived: true)
        let pending = try #require(try storeLocation.pending())
        #expect(try fixture.open().copies.offlineChanges?.changed == ["a"])
        #expect(try fixture.mergePending(pending, into: log) == nil)
        // However long that took.
        log.view.withLock { $0.lookedAtPath = Clock.coarse }
        let head = try log.read { (view) throws(LogError) in view.head }
        #expect(try storeLocation.currentHead()?.position == head)
    }

    /// Between the look whether a file waits and its opening.
    @Test func whereAnotherProcessHasMergedItTheVaultIsOpened() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        try fixture.openOffline().set("a", to: "offline")
        let files = FaultyFileSystem()
        let storeLocation = try fixture.storeLocation(in: files)
        let pending = try #require(try storeLocation.pending()).path
        let merged = Mutex<[String]?>(nil)
        files.watch(.open) { call in
            guard call.path == pending else { return }
            merged.withLock { merged in merged = merged ?? (try? fixture.open().copies.offlineChanges?.changed) }
        }
        #expect(storeLocation.noteFailure(LogError(.unreachable)))
        let store = try storeLocation.open(.fresh)
        #expect(merged.withLock { $0 } == ["a"])
        #expect(store.target == nil && store.path == storeLocation.path)
    }

    /// Whoever then went offline would read what has been merged, without all that was written since.
    @Test func noPowerLossBringsBackWhatWasMerged() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        try fixture.openOffline().set("a", to: "offline")
        let disk = try CrashingFileSystem(fixture.folder.file("one.state"))
        let (storeLocation, log) = try fixture.openLog(in: disk)
        let pending = try #require(try storeLocation.pending())
        #expect(try fixture.mergePending(pending, into: log)?.changed == ["a"])
        for seed in 0..<20 {
            let found = fixture.folder.file("found-\(seed)")
            try disk.materialize(into: found, seed: seed)
            let names = try FileManager.default.contentsOfDirectory(atPath: found)
            #expect(!names.isEmpty && !names.contains { $0.hasSuffix("-offline.vault") })
        }
    }

    /// A program that is open may have seen more of the vault than this machine has kept.
    @Test func whatIsKeptMayBeOlderThanWhatAProgramHasSeen() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        let former = try #require(try fixture.storeLocation().currentHead())
        let kept = fixture.folder.file("one.cache")
        let copy = fixture.folder.file("copy")
        try FileManager.default.copyItem(atPath: kept, toPath: copy)
        try fixture.open().set("a", to: "new")
        let (storeLocation, log) = try fixture.openLog()
        #expect(try log.read { (view) throws(LogError) in view.head.sequence } > former.position.sequence)
        try FileManager.default.removeItem(atPath: kept)
        try FileManager.default.moveItem(atPath: copy, toPath: kept)
        // Otherwise the one who begins the copy would be warned.
        let memory = fixture.folder.file("one.state")
        for name in try FileManager.default.contentsOfDirectory(atPath: memory) where name.hasSuffix(".seen") {
            try FileManager.default.removeItem(atPath: "\(memory)/\(name)")
        }
        for name in ["b", "c"] { try fixture.openOffline().set(name, to: "offline") }
        #expect(storeLocation.noteFailure(LogError(.unreachable)))
        try log.reopen()
        #expect(log.keepsChangesApart)
        #expect(try fixture.open().copies.offlineChanges?.changed == ["b", "c"])
        #expect(try fixture.open(machine: "other").unsafeString("a") == "new")
    }

    /// As where the vault has another URL, too, with a copy of its own.
    @Test func aCopyThatIsOlderThanWhatThisMachineHasSeenIsNoAlarm() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        _ = try fixture.open().maintenance.verify()
        let kept = fixture.folder.file("one.cache")
        let copy = fixture.folder.file("copy")
        try FileManager.default.copyItem(atPath: kept, toPath: copy)
        try fixture.open().set("a", to: "new")
        #expect(try fixture.openOffline().unsafeString("a") == "new")
        try FileManager.default.removeItem(atPath: kept)
        try FileManager.default.moveItem(atPath: copy, toPath: kept)
        let error = #expect(throws: VaultError.self) { try fixture.openOffline() }
        #expect(error?.code == .unavailable && error?.message.contains("through another URL") == true)
        _ = try fixture.open().maintenance.verify()
        #expect(try fixture.openOffline().unsafeString("a") == "new")
    }

    /// A power loss takes what was never flushed. What is changed in a damaged copy could never be merged.
    @Test func nothingIsStoredInADamagedCopy() throws {
        let fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        for name in ["a", "b"] { try keychain.set(name, to: String(repeating: name, count: 5_000)) }
        _ = try keychain.maintenance.verify()
        let kept = try #require(try fixture.storeLocation().mirror?.completePath)
        let whole = try Data(contentsOf: URL(fileURLWithPath: kept))
        for start in stride(from: 0, to: whole.count, by: 512) {
            var bytes = whole
            let sector = start..<min(start + 512, whole.count)
            bytes.replaceSubrange(sector, with: Data(count: sector.count))
            // A hole is written by nobody, and the header's page has room.
            guard bytes != whole else { continue }
            try bytes.write(to: URL(fileURLWithPath: kept))
            let error = #expect(throws: VaultError.self, "sector at \(start)") {
                try fixture.openOffline().set("a", to: "new")
            }
            #expect(error?.code != .outcomeUnknown)
            #expect(try fixture.storeLocation().pending() == nil)
        }
        _ = try fixture.open().maintenance.verify()
        try fixture.openOffline().set("a", to: "new")
        #expect(try fixture.open().copies.offlineChanges?.changed == ["a"])
    }

    /// It stays, and is told of. The process that merges holds its lock, and must not wait for it in doubt.
    @Test func aDamagedCopyKeepsNobodyFromTheVault() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        var options = Keychain.Options()
        options.lockTimeout = .seconds(1)
        var start = 0
        var left = 0
        while true {
            try fixture.openOffline().set("a", to: "offline \(start) " + String(repeating: "x", count: 1_000))
            let pending = URL(fileURLWithPath: try #require(try fixture.storeLocation().pending()).path)
            var bytes = try Data(contentsOf: pending)
            guard start < bytes.count else { break }
            bytes.replaceSubrange(
                start..<min(start + 512, bytes.count), with: Data(count: min(512, bytes.count - start)))
            try bytes.write(to: pending)
            let failures = FailureLog { _, _ in }
            let keychain = try Keychain(
                at: fixture.location(), creatingIfAbsent: false, options: options, failures: failures)
            #expect(try keychain.unsafeString("a")?.hasPrefix("o") == true, "sector at \(start)")
            if try fixture.storeLocation().pending() != nil {
                left += 1
                let cause = VaultError.Cause.changesLeft(path: pending.path, isLocked: false)
                #expect(failures.lastError?.causes == [cause], "sector at \(start)")
                #expect(failures.lastError?.message.contains("are still in \(pending.path)") == true)
                try FileManager.default.removeItem(at: pending)
            }
            start += 512
        }
        #expect(left > 5)
    }

    /// As on a full disk.
    @Test func nothingIsLeftOfACopyThatCannotBeBegun() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        let files = FaultyFileSystem()
        let storeLocation = try fixture.storeLocation(in: files)
        _ = try #require(storeLocation.mirror?.head)
        for kind in [FileCall.write, .synchronize, .rename] {
            files.fail([kind], with: .error(ENOSPC))
            let error = #expect(throws: LogError.self) {
                try storeLocation.beginPending(until: Deadline(after: .seconds(60))) { _ in }
            }
            #expect(error?.systemError == ENOSPC && files.failures > 0)
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.file("one.state"))
            #expect(!names.contains { $0.contains("offline") }, "\(kind)")
            files.heal()
        }
        let store = try fixture.storeLocation(staysOffline: true).open(.fresh)
        let deadline = Deadline(after: .seconds(60))
        if let lock = try store.lock(.exclusive, until: deadline) {
            lock.release()
            Issue.record("no server has answered")
        }
        #expect(try !store.isCurrent())
        let error = #expect(throws: LogError.self) {
            try store.machineCopy?.beginPending(until: deadline) { (_) throws(LogError) in throw LogError(.damaged) }
        }
        #expect(error?.code == .unreachable)
        // Once the server is back, changes go there.
        #expect(try store.isCurrent() && storeLocation.pending() == nil)
        try storeLocation.beginPending(until: deadline) { _ in }
        #expect(try storeLocation.pending() != nil)
    }

    /// Each of them may have kept less than another one has.
    @Test func theCopyBeginsWithTheNewestThatWasKept() throws {
        let fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        try keychain.set("a", to: "old")
        let storeLocation = try fixture.storeLocation()
        _ = try #require(storeLocation.mirror?.head)
        try keychain.set("a", to: "new")
        try storeLocation.beginPending(until: Deadline(after: .seconds(60))) { _ in }
        #expect(try fixture.openOffline().unsafeString("a") == "new")
    }

    @Test func ofManyWhoBeginItOneDoes() throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "old")
        for _ in 0..<20 {
            try onThreads(8) { _ in
                try fixture.storeLocation().beginPending(until: Deadline(after: .seconds(60))) { _ in }
            }
            let pending = try #require(try fixture.storeLocation().pending())
            try FileManager.default.removeItem(atPath: pending.path)
        }
    }
}
