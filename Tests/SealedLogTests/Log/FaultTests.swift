import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Testing

@testable import SealedFormat
@testable import SealedLog

/// Each call of a commit, a compaction and a creation fails in turn.
@Suite("Every call failing in turn")
struct FaultTests {
    enum Work: String, CaseIterable, Sendable {
        /// Into zeros that are there.
        case set
        /// Longer than the zeros that are there.
        case setOverTheEnd
        /// Into a tree.
        case setMany
        case remove
        case compact
        /// A set that compacts on its way.
        case setAndCompact
    }

    private static let faults: [Fault] = [.error(ENOSPC), .short(100, ENOSPC), .short(2_000, EIO), .afterwards(EIO)]

    @Test(arguments: Work.allCases, faults) func leavesTheOldStateOrTheNewOne(_ work: Work, _ fault: Fault) throws {
        let template = try Template(for: work)
        // A call fails that is none: the work is done, and there is no further one.
        for number in 0..<200 {
            let isFurther = try check(work, fault, failingCall: number, template)
            guard isFurther else {
                #expect(number >= 2)
                return
            }
        }
        Issue.record("there is no end of calls")
    }

    /// A vault as it is before the work.
    private struct Template {
        let fixture: LogFixture
        let old: [String: [UInt8]]
        let wishes: [Wish]

        init(for work: Work) throws {
            fixture = try LogFixture()
            let log = try fixture.open(remembering: true)
            try log.make([("a", RandomBytes.array(100)), ("b", RandomBytes.array(3_000)), ("c", [])])
            try log.compact()
            try log.set("d", RandomBytes.array(500))
            try log.remove("c")
            if work == .setAndCompact {
                for _ in 0..<4 { try log.set("b", RandomBytes.array(100_000)) }
            }
            old = try log.state()
            wishes =
                switch work {
                case .set, .setAndCompact: [("a", RandomBytes.array(40)), ("e", RandomBytes.array(40))]
                case .setOverTheEnd: [("a", RandomBytes.array(150_000))]
                case .setMany: (0..<250).map { ("many \($0)", RandomBytes.array(20)) }
                case .remove: [("a", nil)]
                case .compact: []
                }
        }

        var new: [String: [UInt8]] { wishes.reduce(into: old) { $0[$1.name] = $1.value } }
    }

    /// Does the work on a copy of the template.
    ///
    /// - Returns: whether a call failed.
    private func check(_ work: Work, _ fault: Fault, failingCall number: Int, _ template: Template) throws -> Bool {
        let folder = try TemporaryFolder()
        try FileManager.default.removeItem(atPath: folder.path)
        try FileManager.default.copyItem(atPath: template.fixture.folder.path, toPath: folder.path)
        let files = FaultyFileSystem()
        func open(in files: any FileSystem) throws -> SealedLog {
            try openApart(
                folder.file("default.vault"), options: SealedLog.Options(memoryFolder: folder.file("state")), in: files
            ) { () throws(LogError) in
                try KeyFile.read(folder.file("default.key"), secretFolders: [], in: PosixFileSystem())
            }
        }
        let log = try open(in: files)
        // Those that change nothing can fail in one way only.
        let kinds = if case .error = fault { Set(FileCall.allCases) } else { FileCall.changing }
        files.fail(kinds, after: number, with: fault)
        let code = try LogError.code {
            if work == .compact { try log.compact() } else { try log.make(template.wishes) }
        }
        let hasFailed = files.failures > 0
        files.heal()
        let context: Comment = "call \(number), \(fault): \(code.map { "\($0)" } ?? "done")"
        #expect([nil, .unavailable, .outcomeUnknown].contains(code), context)

        let expected: [[String: [UInt8]]] =
            switch code {
            case nil: [template.new]
            case .outcomeUnknown: [template.old, template.new]
            default: [template.old]
            }
        if code != .outcomeUnknown { #expect(expected.contains(try log.state()), context) }
        let other = try open(in: PosixFileSystem())
        #expect(expected.contains(try other.state()), context)
        #expect(try other.verify().entries == UInt64(try other.state().count), context)

        // Both go on, and see each other.
        if code == .outcomeUnknown, work != .compact {
            #expect(try LogError.code { try log.set("z", "z") } == .outcomeUnknown, context)
        } else if code == .outcomeUnknown {
            // Either the notice may have been written, or the name may last: the next write flushes that.
            #expect([nil, .outcomeUnknown].contains(try LogError.code { try log.set("z", "z") }), context)
        } else {
            try log.set("z", "z")
            #expect(try other.text("z") == "z", context)
        }
        try other.set("y", "y")
        #expect(try log.text("y") == "y", context)
        try other.compact()
        #expect(try log.text("y") == "y", context)
        try open(in: PosixFileSystem()).verify()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["default.key", "default.vault", "state"], context)
        return hasFailed
    }
}
