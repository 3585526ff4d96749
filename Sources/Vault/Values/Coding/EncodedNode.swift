/// A value in the making: Codable puts containers in their places first, and fills them afterwards.
final class EncodedNode {
    enum Form {
        case undecided, single, array, dictionary
    }

    enum Content {
        case value(StoredValue)
        case node(EncodedNode)

        var finished: StoredValue {
            switch self {
            case .value(let value): value
            case .node(let node): node.finished
            }
        }
    }

    private(set) var form: Form
    var single = StoredValue.null
    var elements: [Content] = []
    var fields: [String: Content] = [:]

    init(_ form: Form = .undecided) {
        self.form = form
    }

    /// Decides on a form; false if it is another one already.
    func become(_ form: Form) -> Bool {
        if self.form == .undecided { self.form = form }
        return self.form == form
    }

    /// The value as it is now. A type that encodes nothing is one without fields, and may gain some: an empty dictionary.
    var finished: StoredValue {
        switch form {
        case .single: single
        case .array: .array(elements.map(\.finished))
        case .dictionary, .undecided: .dictionary(fields.mapValues(\.finished))
        }
    }
}
