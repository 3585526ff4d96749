import LinuxSystem

// If a server cannot be reached, every command would wait for it. So the first one that notices leaves a note for the
// following ones.

extension Mirror {
    private var outage: WholeFile { WholeFile("\(folder)/\(name).outage", in: files) }

    /// The number of seconds since the server was found unreachable; nil if it was not, or is back.
    var outageAge: Int? {
        guard let found = (try? outage.readTrustworthy(upTo: 8)) ?? nil, found.bytes.count == 8 else { return nil }
        let time = found.bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
        let now = Clock.milliseconds
        // A time in the future shows only that a clock was set back.
        return time <= now ? Int(clamping: (now - time) / 1_000) : nil
    }

    func noteOutage() {
        guard let file = try? files.open(outage.path, .readWriteOrCreateNoFollow) else { return }
        withUnsafeBytes(of: Clock.milliseconds.littleEndian) { try? files.write(file, $0, at: 0) }
    }

    func forgetOutage() { try? files.remove(outage.path) }
}
