/// The reason why a text does not follow its format. It repeats nothing of the text, which may contain secrets.
package struct FormatError: Error, Hashable, Sendable {
    /// The number of the line, from 1 on; nil if the format has no lines, or the whole text is wrong.
    package let line: Int?
    /// The number of the character in the line, from 1 on; nil if the line is precise enough.
    package let column: Int?
    /// The problem, as a sentence without its full stop: `a quotation mark is missing`.
    package let problem: String

    package init(line: Int? = nil, column: Int? = nil, _ problem: String) {
        self.line = line
        self.column = column
        self.problem = problem
    }
}
