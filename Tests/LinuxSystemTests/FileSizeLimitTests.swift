import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("A limit on the size of files")
struct FileSizeLimitTests {
    /// The kernel would write up to the limit, and then end the process.
    @Test func refusesAWriteBeforeAnyOfItIsMade() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let files = PosixFileSystem()
            let file = try files.open(folder.file("a"), .create)
            var limit = rlimit(rlim_cur: 1_000, rlim_max: 1_000)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let bytes = [UInt8](repeating: 1, count: 500)
            func write(at offset: UInt64) throws(SystemError) {
                try bytes.withRawBytes { (bytes) throws(SystemError) in try files.write(file, bytes, at: offset) }
            }
            try write(at: 0)
            let error = #expect(throws: SystemError.self) { try write(at: 501) }
            #expect(error?.number == EFBIG)
            #expect(try files.status(of: file).size == 500)
            try write(at: 500)
            #expect(try files.status(of: file).size == 1_000)
        }
    }
}
