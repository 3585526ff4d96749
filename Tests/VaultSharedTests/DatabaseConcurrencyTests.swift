import Foundation
import LinuxSystem
import SealedLog
import Sealing
import TestSupport
import Testing
import Vault
import VaultTesting

@testable import VaultShared

@Suite("Concurrency of a vault in a database", .needsServer, .timeLimit(.minutes(10)))
struct DatabaseConcurrencyTests {
    @Test func theKeychainKeepsTheRules() async throws {
        let fixtures = Mutex<[DatabaseFixture]>([])
        try await checkConformance {
            let fixture = try DatabaseFixture()
            fixtures.withLock { $0.append(fixture) }
            return try fixture.open()
        }
    }

    @Test func aHundredThreadsShareRecords() throws {
        let fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        try onThreads(100) { thread in
            for round in 0..<10 { try keychain.set("\(thread).\(round)", to: "\(thread)") }
        }
        let information = try keychain.maintenance.information()
        #expect(information.entries == 1_000)
        #expect(information.recordsSinceCheckpoint < 500, "the threads that wait share a record")
        _ = try keychain.maintenance.verify()
    }

    @Test func machinesSeeEachOther() throws {
        let fixture = try DatabaseFixture()
        _ = try fixture.open()
        try onThreads(6) { machine in
            let keychain = try fixture.open(machine: "\(machine)")
            for round in 0..<20 {
                try keychain.set("\(machine)", to: "\(round)")
                #expect(try keychain.unsafeString("\(machine)") == "\(round)")
                if machine == 0, round.isMultiple(of: 5) { _ = try keychain.maintenance.compact() }
            }
        }
        let keychain = try fixture.open(machine: "last")
        for machine in 0..<6 { #expect(try keychain.unsafeString("\(machine)") == "19") }
        _ = try keychain.maintenance.verify()
    }

    /// A compaction of this process, say, that another's has overtaken: what it reads is no damage.
    @Test func whoReadsWhatACompactionHasReplacedReadsAllOfIt() throws {
        let fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        for number in 0..<300 { try keychain.set("same", to: "\(number)") }
        let storeLocation = try PostgresLocation(
            fixture.url, fixture.location(machine: "other"), StoreOptions(), in: PosixFileSystem())
        let store = try storeLocation.open(.fresh)
        let size = try store.size()
        let head = try #require(try storeLocation.currentHead())
        _ = try keychain.maintenance.compact()
        let now = try #require(try storeLocation.currentHead())
        #expect(now.generation != head.generation && now.size < size)
        #expect(try store.isCurrent() && store.isReplaced())
        guard case .doubtful = try store.growth(after: size, head.position) else {
            return #expect(Bool(false), "it has not learnt of the compaction")
        }
        #expect(try store.size() == size)
        let end = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
        defer { end.deallocate() }
        #expect(try store.read(into: end, at: size - 16) == 16)
    }

    /// In a database, a vault is read before what this machine remembers of it. A process that stands still meanwhile
    /// has no time left.
    @Test(arguments: [Duration.seconds(60), .zero]) func whatIsReplacedWhileItIsOpenedIsNoAlarm(
        _ lockTimeout: Duration
    ) throws {
        let fixture = try DatabaseFixture()
        try fixture.open().set("a", to: "0")
        // One process has one log of a vault, unless the memory has another name.
        var location = fixture.location()
        location.rollbackMemory = fixture.folder.file("./one.state")
        let other = try Keychain(at: location)
        let files = FaultyFileSystem()
        let replaced = Mutex(0)
        files.watch(.read) { call in
            let isDue = replaced.withLock { count in
                guard call.path.hasSuffix(".seen"), count < 3 else { return false }
                count += 1
                return true
            }
            guard isDue else { return }
            #expect(throws: Never.self) {
                try other.set("a", to: "\(replaced.withLock { $0 })")
                _ = try other.maintenance.compact()
            }
        }
        var options = Keychain.Options()
        options.lockTimeout = lockTimeout
        let keychain = try Keychain(
            at: fixture.location(), creatingIfAbsent: false, options: options, failures: FailureLog(), in: files)
        #expect(try keychain.unsafeString("a") == "3")
        #expect(replaced.withLock { $0 } == 3)
    }

    /// A compaction whose connection was lost at its commit, and that another one has followed.
    @Test func aGenerationThatAnotherHasReplacedHasCounted() throws {
        let fixture = try DatabaseFixture()
        let keychain = try fixture.open()
        let storeLocation = try PostgresLocation(
            fixture.url, fixture.location(machine: "other"), StoreOptions(), in: PosixFileSystem())
        func present() throws -> PostgresRecordStore {
            try #require(try storeLocation.open(.fresh) as? PostgresRecordStore)
        }
        _ = try keychain.maintenance.compact()
        let second = try present()
        _ = try keychain.maintenance.compact()
        let third = try present()
        #expect(second.generation != third.generation)
        let unpublished = try PostgresRecordStore.begin(at: storeLocation)
        try unpublished.write([1], at: 0)
        defer { unpublished.discard() }
        // Until it goes out of scope.
        let lock = try third.locked(.exclusive, until: Deadline(after: .seconds(5)))
        #expect(try second.isPublished(over: third) && third.isPublished(over: third))
        #expect(try !unpublished.isPublished(over: third))
        _ = consume lock
    }

    /// The vault's row may lead there already.
    @Test(arguments: [true, false]) func aGenerationInDoubtIsNotDeleted(_ isInDoubt: Bool) throws {
        let fixture = try DatabaseFixture()
        _ = try fixture.open()
        let storeLocation = try fixture.storeLocation()
        let store = try PostgresRecordStore.begin(at: storeLocation)
        try store.write([1, 2], at: 0)
        try store.flushConstruction()
        let connection = try #require(store.state.withLock { $0.construction?.connection })
        _ = try connection.flight([.commit], until: Deadline(after: .seconds(60)))
        store.state.withLock { state in
            state.construct { construction in
                construction.isCommitted = true
                construction.isUndecided = isInDoubt
            }
        }
        store.discard()
        #expect(try storeLocation.flight([.bytes(store.generation, 0..<2)])[0].count == (isInDoubt ? 1 : 0))
    }

    @Test func anObserverHearsOfAnotherMachine() async throws {
        let fixture = try DatabaseFixture()
        let observed = try fixture.open()
        let other = try fixture.open(machine: "other")
        let counter = KeychainStorable<Int>("n", in: .store(other))
        try await counter.write(0)
        let seen = Task {
            var last: Int?
            for try await value in KeychainStorable<Int>("n", in: .store(observed)).values {
                last = value
                if value == 20 { break }
            }
            return last
        }
        for number in 1...20 { try await counter.write(number) }
        #expect(try await seen.value == 20)
    }

    @Test func aNamedLockIsHeldByOneMachine() async throws {
        let fixture = try DatabaseFixture()
        let one = try fixture.open()
        let other = try fixture.open(machine: "other")
        let room = Room()
        try await withThrowingTaskGroup { group in
            for keychain in [one, other, one, other] {
                group.addTask {
                    for _ in 0..<5 {
                        let lock = try await keychain.acquireLock("refresh")
                        room.enter()
                        Clock.sleep(microseconds: 1_000)
                        room.leave()
                        withExtendedLifetime(lock) {}
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(room.mostAtOnce == 1)
    }
}

/// Counts who is in it.
private final class Room: Sendable {
    private let state = Mutex((inside: 0, most: 0))

    func enter() {
        state.withLock { state in
            state.inside += 1
            state.most = max(state.most, state.inside)
        }
    }

    func leave() { state.withLock { $0.inside -= 1 } }

    var mostAtOnce: Int { state.withLock { $0.most } }
}
