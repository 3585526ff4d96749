package import FoundationEssentials

/// A property list, kept as exactly as its two formats can tell values apart.
///
/// It is a tree of our own because FoundationEssentials' loses what a foreign file held: there `<real>1.0</real>` comes
/// back an integer, and 10,000 nested arrays crash it. What is parsed here and written again holds the same values of
/// the same types. Comments, processing instructions and layout are not kept.
///
/// A tree handed in by a caller may be deeper than ``Limits/depth``: comparing, hashing and writing it is safe, but
/// freeing it takes stack for each level, as with any nested Swift value. A parsed tree never is.
package enum PropertyList: Sendable {
    case boolean(Bool)
    /// From `Int64.min` to `UInt64.max`, which is what both formats hold. Others are refused when parsed and written.
    case integer(Int128)
    case real(Double)
    case string(String)
    case data(Data)
    /// XML holds whole seconds of the years 1 to 9999, binary any.
    case date(Date)
    case array([PropertyList])
    /// Swift takes keys that are canonically equivalent (one é, or e and an accent) for the same. A file that holds both
    /// is refused like one that holds a key twice.
    case dictionary([String: PropertyList])
}

extension PropertyList {
    /// The integers that property lists hold.
    static let integers = Int128(Int64.min)...Int128(UInt64.max)
}
