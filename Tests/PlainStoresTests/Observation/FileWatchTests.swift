import CTestSupport
import Foundation
import LinuxSystem
import TestSupport
import Testing

@testable import PlainStores

@Suite("Watching a file", .timeLimit(.minutes(10)))
struct FileWatchTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func write(_ text: String, to path: String) throws {
        try FileManager.default.createDirectory(atPath: path.parentFolder, withIntermediateDirectories: true)
        try replace(path, with: text.utf8)
    }

    /// Waits for notices until the file is seen with this text; nil for no file.
    private func waitFor(_ text: String?, at path: String, _ notices: AsyncStream<Void>) async {
        for await _ in notices where (try? contents(path)) == text.map({ Array($0.utf8) }) { return }
    }

    @Test func findsAFileWhoseFolderComesAndGoes() async throws {
        let path = folder.file("a/b/file")
        let feed = ChangeFeed(watching: path)
        let notices = try feed.notices()
        for round in 1...20 {
            try write("\(round)", to: path)
            await waitFor("\(round)", at: path, notices)
            try write("\(round)b", to: path)
            await waitFor("\(round)b", at: path, notices)
            if round.isMultiple(of: 2) {
                try FileManager.default.removeItem(atPath: folder.file("a"))
            } else {
                try FileManager.default.moveItem(atPath: folder.file("a"), toPath: folder.file("old \(round)"))
            }
            await waitFor(nil, at: path, notices)
        }
    }

    @Test func looksForItselfWhereTheSystemDoesNotTell() async throws {
        let path = folder.file("file")
        let files = FaultyFileSystem(volume: Volume(isRemote: true))
        let feed = ChangeFeed(watching: path, in: files)
        let notices = try feed.notices()
        try write("a", to: path)
        await waitFor("a", at: path, notices)
        try write("b", to: path)
        await waitFor("b", at: path, notices)
        try FileManager.default.removeItem(atPath: path)
        await waitFor(nil, at: path, notices)
        #expect(files.calls.contains { $0.kind == .status })
    }

    @Test func looksForItselfWhereTheLimitsAreReached() async {
        await #expect(processExitsWith: .success) {
            ThisProcess.end(after: 60)
            let folder = try TemporaryFolder()
            let path = folder.file("file")
            let feed = ChangeFeed(watching: path)
            // Tasks open descriptors of their own when they first wait, and trap if there are none.
            try await Task.sleep(for: .milliseconds(1))
            // These are already open.
            let former = test_set_descriptor_limit(3)
            let notices = try feed.notices()
            for await _ in notices.prefix(1) {}
            test_set_descriptor_limit(former)
            for byte in 1...2 as ClosedRange<UInt8> {
                try replace(path, with: [byte])
                for await _ in notices where try contents(path) == [byte] { break }
            }
            #expect(try ThisProcess.descriptors { $0 == "anon_inode:inotify" } == 0)
        }
    }

    @Test func isDoneOnlyWhileThereAreObservers() async {
        await #expect(processExitsWith: .success) {
            ThisProcess.end(after: 60)
            let folder = try TemporaryFolder()
            let feed = ChangeFeed(watching: folder.file("file"))
            let descriptors = try ThisProcess.descriptors(where: ThisProcess.isLasting)
            feed.notify()
            #expect(try ThisProcess.threads(named: FileWatch.threadName) == 0)
            let rounds = 20
            for _ in 0..<rounds {
                let notices = try [feed.notices(), feed.notices()]
                for await _ in notices[0].prefix(1) {}
                // The thread of the previous round may still be ending.
                try await ThisProcess.wait { try ThisProcess.threads(named: FileWatch.threadName) == 1 }
                withExtendedLifetime(notices) {}
            }
            #expect(feed.observerCount == 0)
            try await ThisProcess.wait { try ThisProcess.threads(named: FileWatch.threadName) == 0 }
            // Tasks need some too.
            #expect(try ThisProcess.descriptors(where: ThisProcess.isLasting) < descriptors + rounds)
        }
    }
}
