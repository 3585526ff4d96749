import Glibc
import LinuxSystem
import Testing

/// In a process of its own, which can do without them.
@Suite("Without standard streams")
struct StandardStreamTests {
    @Test(arguments: [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO])
    func aFileIsNotOpenedAsOne(_ stream: Int32) async {
        await #expect(processExitsWith: .success) { [stream] in
            close(stream)
            let file = try PosixFileSystem().open("/", .folder)
            guard file.number > STDERR_FILENO else { exit(EXIT_FAILURE) }
        }
    }
}
