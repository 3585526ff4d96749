private import Glibc

/// libpq's keywords (34.1.2) and their values.
struct ConnectionParameters: Sendable {
    private var keywords: [String] = []
    private var values: [String] = []

    /// The value of a keyword; nil if it has none.
    subscript(keyword: String) -> String? {
        get { keywords.firstIndex(of: keyword).map { values[$0] } }
        set {
            if let index = keywords.firstIndex(of: keyword) {
                keywords.remove(at: index)
                values.remove(at: index)
            }
            guard let newValue else { return }
            keywords.append(keyword)
            values.append(newValue)
        }
    }

    /// Passes them as libpq takes them: two lists of C strings, with null at the end.
    func withPointers<Result>(_ body: (_ keywords: List, _ values: List) -> Result) -> Result {
        Self.withPointers(to: keywords) { keywords in
            Self.withPointers(to: values) { body(keywords, $0) }
        }
    }

    typealias List = UnsafePointer<UnsafePointer<CChar>?>?

    private static func withPointers<Result>(to texts: [String], _ body: (List) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: texts.count + 1) { pointers in
            for (index, text) in texts.enumerated() {
                pointers.initializeElement(at: index, to: text.withCString { UnsafePointer(strdup($0)) })
            }
            pointers.initializeElement(at: texts.count, to: nil)
            defer { for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) } }
            return body(UnsafePointer(pointers.baseAddress))
        }
    }
}
