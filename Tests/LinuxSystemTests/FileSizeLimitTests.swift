import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite("A limit on the size of files")
struct FileSizeLimitTests {
    /// The kernel would write the first 1,000 bytes, and end the process at the next write.
    @Test func refusesAWriteBeforeAnyOfItIsMade() async {
        await #expect(processExitsWith: .success) {
            let (folder, files) = (try TemporaryFolder(), PosixFileSystem())
            let file = try files.open(folder.file("a"), .create)
            var limit = rlimit(rlim_cur: 1_000, rlim_max: 1_000)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let bytes = [UInt8](repeating: 1, count: 600)
            try bytes.withRawBytes { (bytes) throws(SystemError) in try files.write(file, bytes, at: 400) }
            let error = #expect(throws: SystemError.self) {
                try bytes.withRawBytes { (bytes) throws(SystemError) in try files.write(file, bytes, at: 401) }
            }
            #expect(error?.number == EFBIG)
            #expect(try files.status(of: file).size == 1_000)
        }
    }
}
