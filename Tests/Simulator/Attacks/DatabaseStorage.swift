/// A vault in the tables of a server.
final class DatabaseStorage: VaultStorage {
    private let database: Database
    private let foreign: Database.Tables?
    private var hasBackUp = false
    private var change: Change?

    private enum Change {
        case exchange
        case bit(generation: String, firstByte: String, index: Int, mask: Int)
    }

    /// - Parameter foreign: the tables of another vault; nil if there is none.
    init(_ database: Database, foreign: Database.Tables?) {
        self.database = database
        self.foreign = foreign
    }

    func takeBackUp() -> Bool {
        guard database.hasVault else { return false }
        database.copy(to: .backUp)
        hasBackUp = true
        return true
    }

    func exchange(for other: OtherVault, overwriting: Bool) -> Bool {
        guard let source = other == .foreign ? foreign : hasBackUp ? .backUp : nil, database.hasVault else {
            return false
        }
        database.copy(to: .former)
        guard database.exchange(for: source) else { return false }
        change = .exchange
        return true
    }

    func changeByte(at firstByte: Double, bit: Double) -> Bool {
        guard database.hasVault else { return false }
        let extents = database.run(
            """
            SELECT generation, first_byte, length(bytes) FROM vault.extent JOIN vault.head USING (generation)
            ORDER BY first_byte
            """)
        let sizes = extents.map { Int($0[2]) ?? 0 }
        var index = Int(firstByte * Double(sizes.reduce(0, +)))
        for (extent, size) in zip(extents, sizes) {
            guard index >= size else {
                let mask = 1 << Int(bit * 8)
                change = .bit(generation: extent[0], firstByte: extent[1], index: index, mask: mask)
                flip(extent[0], extent[1], index, mask)
                return true
            }
            index -= size
        }
        return false
    }

    private func flip(_ generation: String, _ firstByte: String, _ index: Int, _ mask: Int) {
        database.run(
            """
            UPDATE vault.extent SET bytes = set_byte(bytes, \(index), get_byte(bytes, \(index)) # \(mask))
            WHERE generation = \(generation) AND first_byte = \(firstByte)
            """)
    }

    func putBack() -> Bool {
        defer { change = nil }
        switch change {
        case nil: return true
        case .exchange: return database.exchange(for: .former)
        case .bit(let generation, let firstByte, let index, let mask):
            flip(generation, firstByte, index, mask)
            return database.run("SELECT 1 FROM vault.head WHERE generation = \(generation)").count == 1
        }
    }
}
