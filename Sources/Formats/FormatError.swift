/// The reason why input violates its format. It never quotes the input, which may contain secrets.
package struct FormatError: Error, Hashable, Sendable {
    /// The line number, counted from 1; nil if the format has no lines, or if the problem concerns the whole input.
    package let line: Int?
    /// The character's position in the line, counted from 1; nil if the line number suffices.
    package let column: Int?
    /// The problem, as a sentence without a full stop, such as `a quotation mark is missing`.
    package let problem: String

    package init(line: Int? = nil, column: Int? = nil, _ problem: String) {
        self.line = line
        self.column = column
        self.problem = problem
    }
}
