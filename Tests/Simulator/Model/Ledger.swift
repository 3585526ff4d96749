/// The changes of a vault that were acknowledged, for a server that may lose them: each is still on the machine that
/// has made it. Names of their own are set once, and removed once at most.
struct Ledger {
    private struct Entry {
        let write: Model.Write
        let machine: Int
        let step: Int
    }

    private var entries: [Entry] = []
    /// Up to which step a machine had only a part of the vault: nobody can merge what it has kept then.
    private var partialUntil: [Int: Int] = [:]
    /// Names of their own whose removal was begun.
    private var removing: Set<String> = []

    /// What the names begin with that are set once.
    static let oncePrefix = "o/"
    /// What names of their own begin with: also those that were set without a server, and in copies.
    private static let ownPrefixes = [oncePrefix, "p/", "m/"]
    /// How many earlier values a vault keeps of a name.
    private static let keptVersions = 10

    mutating func note(_ write: Model.Write, on machine: Int, at step: Int) {
        entries.append(Entry(write: write, machine: machine, step: step))
    }

    /// Notes that what a machine has had until now is kept in part.
    mutating func notePart(of machine: Int, at step: Int) { partialUntil[machine] = step }

    /// Returns a name of its own with its value, which nobody else removes; nil if there is none.
    mutating func takeRemovable(_ choice: Double) -> (name: String, value: String)? {
        let values = entries.compactMap { entry in entry.write.values.first }
            .filter { $0.key.hasPrefix(Ledger.oncePrefix) && !removing.contains($0.key) }
        guard !values.isEmpty, case (let name, let value?) = values[Int(choice * Double(values.count))] else {
            return nil
        }
        removing.insert(name)
        return (name, value)
    }

    /// Returns what is missing in a vault in which all copies were merged.
    ///
    /// - Parameters:
    ///   - former: returns the values that a name had before.
    ///   - changes: returns how often a name was, or may have been, changed.
    func missing(
        _ contents: [String: String], _ former: (_ name: String) -> [String], _ changes: (_ name: String) -> Int
    ) -> String? {
        var histories: [String: [String]] = [:]
        for entry in entries where entry.step > partialUntil[entry.machine] ?? -1 {
            for (name, value) in entry.write.values.sorted(by: { $0.key < $1.key }) {
                let isOwn = Ledger.ownPrefixes.contains(where: name.hasPrefix)
                guard let value else {
                    if isOwn, contents[name] != nil { return "\(name) is there again, which was removed" }
                    continue
                }
                if contents[name] == value { continue }
                if isOwn, !removing.contains(name) { return "\(name) is not what it was set to" }
                // Of a name that was changed often, the oldest values are not kept.
                guard isOwn || changes(name) <= Ledger.keptVersions else { continue }
                let known = histories[name] ?? former(name)
                histories[name] = known
                guard known.contains(value) else {
                    return "\(name) has lost \(value.prefix(20)), which machine \(entry.machine) had set"
                }
            }
        }
        return nil
    }
}
