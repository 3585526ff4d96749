import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing
import VaultTesting

@testable import SealedFormat
@testable import SealedLog

/// The file is exchanged at each checkout; whoever says so gets an alarm for a foreign history alone.
@Suite("A vault in git")
struct KeptHeadsTests {
    private let fixture: LogFixture
    /// From before this machine has seen the vault.
    private let unseen: [UInt8]

    init() throws {
        fixture = try LogFixture(history: .standard)
        try fixture.open().set("a", "unseen")
        unseen = try fixture.bytes
        try fixture.open().set("a", "first")
    }

    private func open(keepsHeads: Bool = true, accepting: [LogError.Code] = []) throws -> SealedLog {
        var options = fixture.options(remembering: true, accepting: accepting)
        options.keepsHeads = keepsHeads
        return try openApart(fixture.path, options: options, readKey: fixture.key)
    }

    private func code(keepsHeads: Bool = true) throws -> LogError.Code? {
        try LogError.code { _ = try open(keepsHeads: keepsHeads).text("a") }
    }

    /// Changes a copy as somebody else does.
    private func elsewhere(_ bytes: [UInt8], _ body: (SealedLog) throws -> Void) throws -> [UInt8] {
        let path = fixture.folder.file("elsewhere.vault")
        try overwrite(path, bytes)
        try body(openApart(path, options: SealedLog.Options(), readKey: fixture.key))
        return try contents(path)
    }

    /// In any order of changes, compactions, merges and checkouts of what was there, by a program that stays and by one
    /// that starts each time.
    @Test(arguments: 0..<12) func noCheckoutOfWhatWasSeenIsAnAlarm(_ seed: Int) throws {
        var generator = SeededGenerator(seed)
        let handle = try open()
        var commits = [(bytes: try fixture.bytes, value: try handle.text("a"))]
        for number in 0..<30 {
            let log = Bool.random(using: &generator) ? handle : try open()
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: try log.compact()
            case 1:
                // Somebody else has gone on from it.
                let bytes = try elsewhere(fixture.bytes) { try $0.set("a", "of others \(number)") }
                try replace(fixture.path, with: bytes)
                Thread.sleep(forTimeInterval: 0.06)
                #expect(try log.text("a") == "of others \(number)")
            case 2, 3:
                let commit = try #require(commits.randomElement(using: &generator))
                try replace(fixture.path, with: commit.bytes)
                Thread.sleep(forTimeInterval: 0.06)
                #expect(try log.text("a") == commit.value, "\(number)")
            default: try log.set("a", "\(number)")
            }
            commits.append((try fixture.bytes, try log.text("a")))
        }
    }

    @Test func aForeignHistoryIsAnAlarm() throws {
        _ = try open().text("a")
        let seen = try fixture.bytes
        for changes in [1, 2, 5] {
            let foreign = try elsewhere(unseen) { log in
                for number in 0..<changes { try log.set("a", "foreign \(number)") }
            }
            let handle = try open()
            try replace(fixture.path, with: foreign)
            #expect(try code() == .diverged)
            Thread.sleep(forTimeInterval: 0.06)
            #expect(try LogError.code { _ = try handle.text("a") } == .diverged)
            #expect(try LogError.code { try handle.set("a", "x") } == .diverged)
            try replace(fixture.path, with: seen)
            #expect(try code() == nil)
        }
        // What was never seen here is not what a checkout of a seen one shows.
        try replace(fixture.path, with: unseen)
        #expect(try code() == .rolledBack)
        // A person accepts it once, and it is known from then on.
        #expect(try open(accepting: [.rolledBack]).text("a") == "unseen")
        try replace(fixture.path, with: seen)
        #expect(try code() == nil)
        try replace(fixture.path, with: unseen)
        #expect(try code() == nil)
    }

    // MARK: Salvage

    /// Salvages the file as it is, with the memory of this machine.
    private func salvaged(keepsHeads: Bool = true) throws -> SalvagedVault {
        try SalvagedVault(fixture, fixture.bytes, remembering: true, keepsHeads: keepsHeads)
    }

    /// An older file that is opened lowers what is remembered, and is none the newer for it.
    @Test(arguments: [true, false]) func aSalvageKnowsTheNewestThatWasSeen(_ keepsHeads: Bool) throws {
        var states: [[UInt8]] = []
        for text in ["first", "second", "third"] {
            try open().set("a", text)
            states.append(try fixture.bytes)
        }
        let newer = try elsewhere(states[2]) { try $0.set("a", "of others") }
        for (index, state) in states.enumerated() {
            try replace(fixture.path, with: state)
            #expect(try code() == nil)
            let report = try salvaged(keepsHeads: keepsHeads).report
            #expect(report.isComplete == (index == 2) && report.certain == (index == 2 ? 1 : 0))
            #expect(report.doubtful == (index == 2 ? [] : ["a"]))
        }
        try replace(fixture.path, with: newer)
        #expect(try salvaged(keepsHeads: keepsHeads).report.isComplete)
    }

    /// Two branches end with the same number, and this machine has seen both.
    @Test func aSalvageOfEitherBranchIsComplete() throws {
        let common = try fixture.bytes
        _ = try open().text("a")
        var branches: [[UInt8]] = []
        for text in ["here", "there"] {
            try replace(fixture.path, with: common)
            try open().set("a", text)
            branches.append(try fixture.bytes)
        }
        for (branch, text) in zip(branches, ["here", "there"]) {
            for isCompacted in [false, true] {
                let bytes = isCompacted ? try elsewhere(branch) { _ = try $0.compact() } : branch
                try replace(fixture.path, with: bytes)
                let salvaged = try salvaged()
                #expect(salvaged.report.isComplete && salvaged.state["a"] == Array(text.utf8))
            }
        }
    }

    // MARK: Otherwise

    /// Nobody has said that it lives in git.
    @Test func otherwiseAnOlderFileIsAnAlarm() throws {
        let log = try open()
        let older = try fixture.bytes
        try log.set("a", "second")
        try replace(fixture.path, with: older)
        #expect(try code(keepsHeads: false) == .rolledBack)
        #expect(try code() == nil)
    }

    /// Whoever says so later has seen one already.
    @Test func whatWasSeenBeforeCountsToo() throws {
        _ = try open(keepsHeads: false).text("a")
        let older = try fixture.bytes
        try open().set("a", "second")
        try replace(fixture.path, with: older)
        #expect(try open().text("a") == "first")
    }

    /// The next state comes from another machine.
    @Test func soItDoesIfWhatFollowsIsOnlyRead() throws {
        _ = try open(keepsHeads: false).text("a")
        let older = try fixture.bytes
        try fixture.open().set("a", "second")
        #expect(try open().text("a") == "second")
        try replace(fixture.path, with: older)
        #expect(try open().text("a") == "first")
    }

    @Test func aRotationIsNotUndoneByACheckout() throws {
        let log = try open()
        let older = try fixture.bytes
        try log.rotate()
        let newer = try fixture.bytes
        try replace(fixture.path, with: older)
        #expect(try code() == .rolledBack)
        try replace(fixture.path, with: newer)
        #expect(try open().text("a") == "first")
        let rotated = try fixture.bytes
        try open().set("a", "second")
        try replace(fixture.path, with: rotated)
        #expect(try open().text("a") == "first")
    }

    /// A state in which a member is one again is shown, and nobody writes to it.
    @Test func aRemovalOfAMemberIsNotUndoneByACheckout() throws {
        let vault = try SharedVault()
        func open() throws -> SealedLog {
            var options = vault.fixture.options(remembering: true)
            options.keepsHeads = true
            options.deviceKey = { () throws(LogError) in vault.mia }
            return try openApart(vault.fixture.path, options: options, readKey: vault.fixture.key)
        }
        let log = try open()
        try vault.addMembers(to: log)
        try log.set("a", "1")
        let older = try vault.fixture.bytes
        try vault.remove("tom", from: log)
        let newer = try vault.fixture.bytes
        try replace(vault.fixture.path, with: older)
        #expect(try open().text("a") == "1")
        #expect(try LogError.code { try open().set("a", "2") } == .diverged)
        try replace(vault.fixture.path, with: newer)
        try open().set("a", "2")
        #expect(try open().text("a") == "2")
    }

    @Test(arguments: [-1, 0, 1]) func theNewestAreKept(_ difference: Int) throws {
        let log = try open()
        let memory = try #require(log.memory)
        // Two are known already: that of the log, and one of these.
        _ = try log.text("a")
        let first = try log.read { (view) in view.head }
        let older = try fixture.bytes
        try log.set("a", "second")
        let count = Limits.seenHeads - 2 + difference
        for number in 0..<count {
            let position = LogPosition(sequence: 1_000_000 + UInt64(number), authenticator: .zero)
            memory.add(heads: [position])
        }
        let heads = try memory.heads { () throws(LogError) in [] }
        #expect(heads.count == min(Limits.seenHeads, count + 2))
        #expect(heads.contains(first) == (difference < 1))
        try replace(fixture.path, with: older)
        #expect(try code() == (difference < 1 ? nil : .rolledBack))
    }

    @Test func aTornFileIsNoMemory() throws {
        let log = try open()
        let older = try fixture.bytes
        try log.set("a", "second")
        let memory = try #require(log.memory)
        let name = "\(Hexadecimal.string(of: log.vaultID)).heads"
        let path = fixture.memory + "/" + name
        let file = try contents(fixture.memory + "/" + name)
        #expect(file.count == 24_640)
        try replace(fixture.path, with: older)
        for length in [0, 31, 32, 24_607, 24_639] {
            try overwrite(path, file[..<length])
            #expect(try memory.heads { () throws(LogError) in [] } == [])
        }
        for byte in [8, 24, 30, 40, 24_608] {
            var changed = file
            changed[byte] ^= 1
            try overwrite(path, changed)
            #expect(try code() == .rolledBack, "\(byte)")
        }
        try overwrite(path, file)
        #expect(try code() == nil)
    }

    /// What the memory cannot keep is no reason to refuse a state that was seen.
    @Test func aMemoryThatCannotBeWrittenKeepsNobodyFromAChange() throws {
        let log = try open()
        let older = try fixture.bytes
        try log.set("a", "second")
        let files = FaultyFileSystem()
        var options = fixture.options(remembering: true, waiting: .seconds(2))
        options.keepsHeads = true
        let handle = try openApart(fixture.path, options: options, in: files, readKey: fixture.key)
        #expect(try handle.text("a") == "second")
        // The files of the memory are written from their first byte on.
        files.fail([.write], on: 0..<1, times: .max, with: .error(EROFS))
        try replace(fixture.path, with: older)
        Thread.sleep(forTimeInterval: 0.06)
        #expect(try handle.text("a") == "first")
        try handle.set("a", "third")
        #expect(try handle.text("a") == "third")
    }
}
