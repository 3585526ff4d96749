/// Where in a tree a value lies, as errors show it: `["window"][3]`.
struct Place: CustomStringConvertible {
    private(set) var description = ""

    mutating func append(_ key: String) {
        // Keys are as long as a file likes, and may hold what a terminal would obey.
        let start = String(String.UnicodeScalarView(key.unicodeScalars.prefix(64)))
        description += "[\(start.debugDescription)\(start.utf8.count < key.utf8.count ? "…" : "")]"
    }

    mutating func append(_ index: Int) {
        description += "[\(index)]"
    }
}
