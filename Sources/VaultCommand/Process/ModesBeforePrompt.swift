import Glibc

/// The terminal modes before a prompt. During the prompt, two control characters that no terminal uses store them.
enum ModesBeforePrompt {
    /// The indices of the two control characters, which are above all indices that have a meaning.
    private static let indices = (flags: 17, interrupt: 18)
    /// The upper bits of both characters, which show that the lower bits are stored modes.
    private static let sign: UInt8 = 0b1010_1000
    private static let flags: [(bit: UInt8, flag: tcflag_t)] = [
        (1, tcflag_t(ECHO)), (2, tcflag_t(ECHONL)), (4, tcflag_t(ICANON)),
    ]

    static func mark(_ prompt: termios, with former: termios) -> termios {
        var modes = prompt
        withUnsafeMutableBytes(of: &modes.c_cc) { keys in
            keys[indices.flags] = flags.reduce(sign) { $0 | (former.c_lflag & $1.flag != 0 ? $1.bit : 0) }
            keys[indices.interrupt] = withUnsafeBytes(of: former.c_cc) { $0[Int(VINTR)] }
        }
        return modes
    }

    /// Returns the modes before the prompt, or nil if `modes` are not those of a prompt. The echo is checked too,
    /// because another program may have turned it on and kept the two characters.
    static func of(_ modes: termios) -> termios? {
        let marks = withUnsafeBytes(of: modes.c_cc) { ($0[indices.flags], $0[indices.interrupt]) }
        guard marks.0 & 0xF8 == sign, modes.c_lflag & tcflag_t(ECHO | ICANON) == 0 else { return nil }
        var former = modes
        for (bit, flag) in flags where marks.0 & bit != 0 { former.c_lflag |= flag }
        withUnsafeMutableBytes(of: &former.c_cc) { keys in
            keys[indices.flags] = 0
            keys[indices.interrupt] = 0
            keys[Int(VINTR)] = marks.1
        }
        return former
    }
}
