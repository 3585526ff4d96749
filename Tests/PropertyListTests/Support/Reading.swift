import PropertyList

extension StoredValue {
    init(parsing bytes: [UInt8]) throws(PropertyListError) {
        self = try PropertyListFormat.parse(bytes).tree
    }

    func xml() throws(PropertyListError) -> [UInt8] { try PropertyListFormat.xml.serialized(self) }
    func binary() throws(PropertyListError) -> [UInt8] { try PropertyListFormat.binary.serialized(self) }
}

/// The code of the error that reading or writing throws; nil if it throws none.
func code(_ body: () throws(PropertyListError) -> Void) -> PropertyListError.Code? {
    do { try body() } catch { return error.code }
    return nil
}

func read(_ text: String) throws(PropertyListError) -> StoredValue {
    try StoredValue(parsing: Array(text.utf8))
}

/// Reads the content of a plist element.
func read(inside text: String) throws(PropertyListError) -> StoredValue {
    try read("<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\">\(text)</plist>")
}

/// The error code for the content of a plist element.
func refusal(inside text: String) -> PropertyListError.Code? {
    code { () throws(PropertyListError) in _ = try read(inside: text) }
}

func text(_ tree: StoredValue) throws(PropertyListError) -> String {
    String(decoding: try tree.xml(), as: UTF8.self)
}

/// That many arrays inside each other.
func nested(_ depth: Int) -> StoredValue {
    (1..<depth).reduce(.array([])) { inner, _ in .array([inner]) }
}
