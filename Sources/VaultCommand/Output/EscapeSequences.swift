/// The sequences by which terminals are moved, cleared, coloured and given a clipboard. Whoever writes one asks here
/// first.
enum EscapeSequences {
    /// Whether the terminals of this process obey them. One of the type `dumb`, such as a shell in an editor, shows
    /// them as text.
    static let areObeyed = environmentVariable("TERM") != "dumb"
}
