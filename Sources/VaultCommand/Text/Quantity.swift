enum Quantity {
    /// Returns the digits in groups of three: `4,560`.
    static func number(_ value: some BinaryInteger) -> String {
        let digits = String(value)
        return digits.count <= 3 ? digits : number(value / 1_000) + "," + digits.suffix(3)
    }

    /// Returns `1 entry` or `4,560 entries`.
    static func entries(_ count: Int) -> String { "\(number(count)) \(count == 1 ? "entry" : "entries")" }

    /// Returns a size in the largest unit that fits, with one decimal below ten: `512 bytes`, `1.5 KiB`, `64 MiB`.
    static func size(_ bytes: Int) -> String {
        guard bytes >= 1_024 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        let (unit, scale) = bytes < 1 << 20 ? ("KiB", 1 << 10) : bytes < 1 << 30 ? ("MiB", 1 << 20) : ("GiB", 1 << 30)
        // `bytes * 10` could overflow: a vault may contain any number as a size.
        let tenths = bytes / scale * 10 + bytes % scale * 10 / scale
        let decimal = tenths < 100 && !tenths.isMultiple(of: 10) ? ".\(tenths % 10)" : ""
        return "\(number(tenths / 10))\(decimal) \(unit)"
    }
}
