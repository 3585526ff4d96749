/// The way to a value inside another one.
///
/// Linked, since it grows with each value; the array that Codable asks for is rarely wanted.
indirect enum CodingPath {
    case root
    case inside(CodingPath, at: any CodingKey)

    func appending(_ key: (any CodingKey)?) -> CodingPath {
        key.map { .inside(self, at: $0) } ?? self
    }

    var keys: [any CodingKey] {
        var keys: [any CodingKey] = []
        var path = self
        while case .inside(let outer, let key) = path {
            keys.append(key)
            path = outer
        }
        return keys.reversed()
    }
}

/// A key that no type declares: an element's index, or the place of a superclass.
struct PlaceKey: CodingKey {
    static let superclass = PlaceKey(stringValue: "super")

    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        // As the standard library's own are, which errors that a type throws may have in their path.
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }
}

extension CodingKey {
    /// The key as an error may show it: indices and what a type declares as an enum's case. Any other key may be made from
    /// data, as a dictionary's is, and so be part of the value.
    var shown: String {
        if let intValue, stringValue == PlaceKey(intValue: intValue).stringValue { return String(intValue) }
        if self is PlaceKey { return stringValue }
        let mirror = Mirror(reflecting: self)
        return mirror.displayStyle == .enum && mirror.children.isEmpty ? stringValue : ConversionFailure.hiddenKey
    }
}
