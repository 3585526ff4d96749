import LinuxSystem

// Every command would wait for a server that is away: one that has found it so leaves a note for those that follow.

extension Mirror {
    private var outage: WholeFile { WholeFile("\(folder)/\(name).outage", in: files) }

    /// How long ago, in seconds, the server was found absent; nil if it was not, or is back.
    var outageAge: Int? {
        guard let found = (try? outage.readTrustworthy(upTo: 8)) ?? nil, found.bytes.count == 8 else { return nil }
        let time = found.bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
        let now = Clock.milliseconds
        // A clock that was set back says nothing.
        return time <= now ? Int(clamping: (now - time) / 1_000) : nil
    }

    func noteOutage() {
        guard let file = try? files.open(outage.path, .readWriteOrCreateNoFollow) else { return }
        withUnsafeBytes(of: Clock.milliseconds.littleEndian) { try? files.write(file, $0, at: 0) }
    }

    func forgetOutage() { try? files.remove(outage.path) }
}
