import Foundation

/// The resources that this process uses. They are meaningful only in an exit test, in which nothing else runs.
package enum ThisProcess {
    package static func threads(named name: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count {
            // A thread that has just ended has no name.
            (try? kernelText("/proc/self/task/\($0)/comm")) == name + "\n"
        }
    }

    /// Counts open descriptors by their targets: a path, `anon_inode:inotify` and so on.
    package static func descriptors(where isCounted: (String) -> Bool) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            // The descriptor with which the folder was read is closed by now.
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")).map(isCounted) ?? false
        }
    }

    /// Returns false for timers, which are created and dropped for tasks that sleep.
    package static func isLasting(_ descriptor: String) -> Bool {
        descriptor != "anon_inode:[timerfd]"
    }

    /// Returns the size of the address space in bytes.
    package static func addressSpace() throws -> Int { try memory(0) }

    /// Returns the size of the resident memory in bytes.
    package static func residentMemory() throws -> Int { try memory(1) }

    private static func memory(_ field: Int) throws -> Int {
        let fields = try kernelText("/proc/self/statm").split(separator: " ")
        return (Int(fields[field]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Ends the process after this time, so that it does not wait forever for another one that has failed.
    package static func end(after seconds: UInt32) {
        alarm(seconds)
    }

    /// Waits until a condition holds.
    ///
    /// - Throws: `timedOut` if the condition does not hold within two minutes, since a sanitized process on a busy
    ///   machine may need that long; the error of `condition`.
    package static func wait(until condition: () throws -> Bool) async throws {
        for _ in 0..<12_000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw POSIXError(.ETIMEDOUT)
    }
}
