import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("An access to a file that follows no link")
struct FileAccessTests {
    private let folder: TemporaryFolder
    private let files = PosixFileSystem()
    private var link: String { folder.file("link") }
    private var target: String { folder.file("target") }

    init() throws {
        folder = try TemporaryFolder()
        try #require(symlink(target, link) == 0)
    }

    @Test(arguments: [FileAccess.readNoFollow, .readWriteNoFollow, .readWriteOrCreateNoFollow], [true, false])
    func refusesASymbolicLink(_ access: FileAccess, hasTarget: Bool) throws {
        if hasTarget { try overwrite(target, [1, 2, 3]) }
        let error = #expect(throws: SystemError.self) { _ = try files.open(link, access) }
        #expect(error?.number == ELOOP)
        #expect((try unlessMissing(files.status(at: target)) != nil) == hasTarget)
    }
}
