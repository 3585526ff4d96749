import Foundation

/// What the running process takes of the system. Of use only in an exit test, where nothing else runs.
package enum ThisProcess {
    package static func threads(named name: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count {
            // One that has just ended has no name.
            (try? kernelText("/proc/self/task/\($0)/comm")) == name + "\n"
        }
    }

    /// Counts open descriptors by what they lead to: a path, `anon_inode:inotify` …
    package static func descriptors(where isCounted: (String) -> Bool) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            // The one by which the folder was read is closed by now.
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")).map(isCounted) ?? false
        }
    }

    /// Not a timer, as they are made and dropped for tasks that sleep.
    package static func isLasting(_ descriptor: String) -> Bool {
        descriptor != "anon_inode:[timerfd]"
    }

    /// In bytes.
    package static func addressSpace() throws -> Int { try memory(0) }

    /// In bytes.
    package static func residentMemory() throws -> Int { try memory(1) }

    private static func memory(_ field: Int) throws -> Int {
        let fields = try kernelText("/proc/self/statm").split(separator: " ")
        return (Int(fields[field]) ?? 0) * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Ends the process if it is still there by then: rather that than waiting for ever for another that has failed.
    package static func end(after seconds: UInt32) {
        alarm(seconds)
    }

    /// Waits until something holds.
    ///
    /// - Throws: `timedOut` if it does not come about within two minutes, since a sanitized process beside many others
    ///   may have to wait for its turn as long as that; what `condition` throws.
    package static func wait(until condition: () throws -> Bool) async throws {
        for _ in 0..<12_000 {
            if try condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw POSIXError(.ETIMEDOUT)
    }
}
