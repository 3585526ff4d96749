import Glibc
import LinuxSystem
import Vault

/// The key from `--key-fd`. A descriptor can be read once, but a command may open its vault several times.
enum GivenKey {
    private static let held = Mutex<KeyFileContents?>(nil)

    static func contents(of descriptor: Int32) throws -> KeyFileContents {
        if let held = held.withLock({ $0 }) { return held }
        // Programs that are run to find another key must not inherit this one.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let bytes = try ValueInput.read(from: descriptor, named: "Descriptor \(descriptor)", isExact: true)
        let contents = KeyFileContents(bytes)
        held.withLock { $0 = contents }
        return contents
    }
}
