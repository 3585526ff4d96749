/// The sequences that move the cursor, clear and colour a terminal, and set its clipboard. All code that writes one
/// checks this first.
enum EscapeSequences {
    /// Whether the terminals of this process interpret them. A terminal of the type `dumb`, such as a shell in an
    /// editor, shows them as text.
    static let areObeyed = environmentVariable("TERM") != "dumb"
}
