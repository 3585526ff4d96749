/// What a store may hold, from what was written and read. Times are counted in events.
///
/// A write takes effect at one moment between its start and its end, for all its names together. Each value is written
/// once, so a value that is read names its write.
final class Model {
    final class Write {
        let values: [String: String?]
        let start: Int
        /// It took effect by then, if ever.
        var latest = Int.max
        /// From then on it has certainly taken effect, and power loss does not undo it.
        var certain = Int.max
        /// From then on it has been seen. Power loss may undo it.
        var seen = Int.max
        /// Reported as made.
        var isAcknowledged = false
        /// Reported as not made.
        var isRefused = false
        /// The value that it was computed from, of a name that counts.
        var base: String?

        init(_ values: [String: String?], start: Int) {
            self.values = values
            self.start = start
        }

        fileprivate var known: Int { min(certain, seen) }

        fileprivate var summary: [String: String] { values.mapValues { $0.map { String($0.prefix(40)) } ?? "absent" } }
    }

    private(set) var now = 0
    /// Whether the store may lack what was acknowledged: its server was put back to an older state. Then only the
    /// values must have been written once.
    var isRestored = false
    private var writes: [String: [Write]] = [:]
    private let initial: Write

    /// - Parameter values: what the store holds at first.
    init(_ values: [String: String]) {
        initial = Write(values.mapValues { $0 }, start: -1)
        initial.latest = -1
        initial.certain = -1
        for name in values.keys { writes[name] = [initial] }
    }

    var names: [String] { Array(writes.keys) }

    /// Returns how often a name was changed, or may have been.
    func changes(of name: String) -> Int { writes[name]?.count ?? 0 }

    func tick() -> Int {
        now += 1
        return now
    }

    // MARK: Writing

    func begin(_ values: [String: String?]) -> Write {
        let write = Write(values, start: tick())
        for name in values.keys { writes[name, default: [absent(name)]].append(write) }
        return write
    }

    private func absent(_ name: String) -> Write {
        let write = Write([name: nil], start: -1)
        write.latest = -1
        write.certain = -1
        return write
    }

    /// Returns what is wrong with that.
    func acknowledge(_ write: Write) -> String? {
        write.isAcknowledged = true
        write.latest = min(write.latest, tick())
        write.certain = min(write.certain, now)
        return lostUpdate(of: write)
    }

    func refuse(_ write: Write) -> String? {
        write.isRefused = true
        write.latest = tick()
        return write.known < now && !isRestored
            ? "a write was refused after its value had been read: \(write.summary)" : nil
    }

    /// Its outcome is unknown, and is decided by now.
    func abandon(_ write: Write) {
        write.latest = min(write.latest, tick())
    }

    /// Whoever counts on the same value as another has lost the other's change.
    private func lostUpdate(of write: Write) -> String? {
        guard let base = write.base, !isRestored else { return nil }
        for name in write.values.keys {
            let other = writes[name]?.first { $0 !== write && $0.base == base && $0.certain < .max }
            if let other { return "two changes of one value, \(base): \(other.summary) and \(write.summary)" }
        }
        return nil
    }

    // MARK: Reading

    /// Takes what was read at one moment since `start`, and returns what is wrong with it.
    ///
    /// - Parameters:
    ///   - isDurable: whether power loss does not undo what was read. Then nobody may read what is refused, not even
    ///     while it is being written.
    ///   - isDisturbed: whether the file was exchanged meanwhile: then only the values must have been written once.
    func read(_ values: [String: String?], since start: Int, isDurable: Bool, isDisturbed: Bool) -> String? {
        let end = tick()
        let isDisturbed = isDisturbed || isRestored
        var shown: [Write] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let value else { continue }
            guard let write = writes[name]?.first(where: { $0.values[name] == value }) else {
                return "\(name) has a value that nobody wrote: \(value.prefix(40))"
            }
            shown.append(write)
            if isDurable, !isDisturbed, write.isRefused, write.latest >= start {
                return "\(name) has a value that was refused meanwhile: \(value.prefix(40))"
            }
        }
        if isDisturbed { return nil }
        // All of it was there at one moment, so after the start of each write that is seen.
        let moment = max(start, shown.map(\.start).max() ?? start)
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            let sources = (writes[name] ?? [absent(name)]).filter { $0.values[name] == .some(value) }
            guard sources.contains(where: { isLegal($0, name, moment, end) }) else {
                return "\(name) is \(value?.prefix(40) ?? "absent"), which is outdated or was refused; "
                    + "it could be \(legal(name, moment, end))"
            }
        }
        for write in shown where !write.isRefused {
            if isDurable { write.certain = min(write.certain, end) } else { write.seen = min(write.seen, end) }
            write.latest = min(write.latest, end)
            if let loss = isDurable ? lostUpdate(of: write) : nil { return loss }
        }
        return nil
    }

    private func isLegal(_ write: Write, _ name: String, _ start: Int, _ end: Int) -> Bool {
        if write.start > end || (write.isRefused && write.latest < start) { return false }
        return !(writes[name] ?? []).contains { other in
            other !== write && !other.isRefused && other.known < start && write.latest < other.start
        }
    }

    private func legal(_ name: String, _ start: Int, _ end: Int) -> [String] {
        (writes[name] ?? []).filter { isLegal($0, name, start, end) }.map {
            ($0.values[name] ?? nil).map { String($0.prefix(40)) } ?? "absent"
        }
    }

    /// Power loss: what was only seen may be gone.
    func losePower() {
        for write in writes.values.joined() { write.seen = .max }
    }

    /// The disk had lost the write before anyone was told that it was made, although a flush reported that it is there.
    func lose(_ write: Write) {
        guard !write.isAcknowledged else { return }
        write.seen = .max
        write.certain = .max
    }
}
