/// Why a text does not have the form of its format. It repeats nothing of the text, which may hold secrets.
package struct FormatError: Error, Hashable, Sendable {
    /// The line on which it is, from 1 on; nil if the format has no lines, or the whole is wrong.
    package let line: Int?
    /// The character of the line at which it is, from 1 on; nil if the line tells enough.
    package let column: Int?
    /// What is wrong, as a sentence without its full stop: `a quotation mark is missing`.
    package let problem: String

    package init(line: Int? = nil, column: Int? = nil, _ problem: String) {
        (self.line, self.column, self.problem) = (line, column, problem)
    }
}
