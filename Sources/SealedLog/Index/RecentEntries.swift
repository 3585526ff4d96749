/// The entries of the records since the newest checkpoint, by name.
struct RecentEntries: Sendable {
    private var entries: [Entry] = []
    /// Indices into `entries`, ordered by name: an insertion moves four bytes per entry instead of a whole entry.
    private var order: [Int32] = []

    var count: Int { order.count }
    var isEmpty: Bool { order.isEmpty }

    subscript(position: Int) -> Entry { entries[Int(order[position])] }

    /// Returns the first position whose name is not before `name`.
    func position(of name: UnsafeRawBufferPointer) -> (index: Int, isFound: Bool) {
        // Through spans: an array's subscript would retain and release each compared name.
        let (entries, order) = (entries.span, order.span)
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            let relation = entries[Int(order[middle])].name.bytes.span.bytes.withUnsafeBytes { $0.order(to: name) }
            if relation == 0 { return (middle, true) }
            if relation < 0 { low = middle + 1 } else { high = middle }
        }
        return (low, false)
    }

    func find(_ name: UnsafeRawBufferPointer) -> Entry? {
        guard !isEmpty else { return nil }
        let (index, isFound) = position(of: name)
        return isFound ? self[index] : nil
    }

    func find(_ name: EntryName) -> Entry? {
        name.bytes.withUnsafeBytes(find)
    }

    mutating func insert(_ entry: Entry) {
        let (index, isFound) = entry.name.bytes.withUnsafeBytes(position)
        if isFound {
            entries[Int(order[index])] = entry
        } else {
            order.insert(Int32(entries.count), at: index)
            entries.append(entry)
        }
    }

    mutating func removeAll() {
        self = RecentEntries()
    }
}
