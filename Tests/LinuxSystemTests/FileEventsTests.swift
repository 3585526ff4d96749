import Foundation
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("Events of a file")
struct FileEventsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func make(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    @Test func tellEveryWayInWhichItChanges() throws {
        let path = folder.file("file")
        let events = try FileEvents(of: path)
        #expect(events.take() == .nothing)
        try overwrite(path, [1])
        #expect(events.take() == .changed)
        #expect(events.take() == .nothing)
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.write(contentsOf: Data([2]))
        #expect(events.take() == .changed)
        try file.close()
        _ = events.take()
        try replace(path, with: [3])
        #expect(events.take() == .changed)
        try setMode(path, 0o400)
        #expect(events.take() == .changed)
        try FileManager.default.moveItem(atPath: path, toPath: folder.file("away"))
        #expect(events.take() == .changed)
        try FileManager.default.moveItem(atPath: folder.file("away"), toPath: path)
        _ = events.take()
        try FileManager.default.removeItem(atPath: path)
        #expect(events.take() == .changed)
    }

    @Test func tellNothingOfReadingAndOfOtherFiles() throws {
        let path = folder.file("file")
        try overwrite(path, [1])
        let events = try FileEvents(of: path)
        try overwrite(path + "2", [1])
        try overwrite(folder.file("fil"), [1])
        try make(folder.file("below/file"))
        _ = try contents(path)
        #expect(events.take() == .nothing)
    }

    @Test func tellThatAFolderIsGoneOrElsewhere() throws {
        for name in ["a", "a/b", "a/b/c"] {
            try make(folder.file("a/b/c"))
            let events = try FileEvents(of: folder.file("a/b/c/file"))
            try FileManager.default.moveItem(atPath: folder.file(name), toPath: folder.file("elsewhere"))
            #expect(events.take() == .foldersChanged)
            let others = try FileEvents(of: folder.file("elsewhere/file"))
            try FileManager.default.removeItem(atPath: folder.file("elsewhere"))
            #expect(others.take() == .foldersChanged)
        }
    }

    @Test func tellThatAMissingFolderHasCome() throws {
        let path = folder.file("a/b/c/file")
        for (made, other) in [("a", "x"), ("a/b", "a/x"), ("a/b/c", "a/b/x")] {
            let events = try FileEvents(of: path)
            try make(folder.file(other))
            #expect(events.take() == .nothing)
            try make(folder.file(made))
            #expect(events.take() == .foldersChanged)
        }
        let events = try FileEvents(of: path)
        try overwrite(path, [1])
        #expect(events.take() == .changed)
    }

    @Test func waitForAFolderWhoseNameAFileHas() throws {
        try overwrite(folder.file("a"), [1])
        let events = try FileEvents(of: folder.file("a/file"))
        try FileManager.default.removeItem(atPath: folder.file("a"))
        #expect(events.take() == .foldersChanged)
    }

    @Test func thatAreTooManyAreAChange() throws {
        let path = folder.file("file")
        try overwrite(path, [1])
        let events = try FileEvents(of: path)
        let limit = try #require(
            Int(
                kernelText("/proc/sys/fs/inotify/max_queued_events").trimmingCharacters(in: .newlines)))
        // Two names in turn: an event that is the same as the one before it would be put together with that.
        try overwrite(path + "2", [])
        for _ in 0...limit / 2 {
            chmod(path, 0o600)
            chmod(path + "2", 0o600)
        }
        var outcomes: Set<FileEvents.Outcome> = []
        while !outcomes.contains(.nothing) { outcomes.insert(events.take()) }
        #expect(outcomes == [.changed, .foldersChanged, .nothing])
    }
}
