import PropertyList

/// The code of the error that reading or writing throws; nil if it throws none.
func code(_ body: () throws(PropertyListError) -> Void) -> PropertyListError.Code? {
    do { try body() } catch { return error.code }
    return nil
}

func read(_ text: String) throws(PropertyListError) -> PropertyList {
    try PropertyList(parsing: Array(text.utf8))
}

/// Reads what stands in a plist element.
func read(inside text: String) throws(PropertyListError) -> PropertyList {
    try read("<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\">\(text)</plist>")
}

/// The error code for what stands in a plist element.
func refusal(inside text: String) -> PropertyListError.Code? {
    code { () throws(PropertyListError) in _ = try read(inside: text) }
}

func text(_ tree: PropertyList) throws(PropertyListError) -> String {
    String(decoding: try tree.xml(), as: UTF8.self)
}

/// That many arrays inside each other.
func nested(_ depth: Int) -> PropertyList {
    (1..<depth).reduce(.array([])) { inner, _ in .array([inner]) }
}
