import Glibc

/// The terminal modes before a prompt, kept during it in two control characters (`c_cc`) that Linux does not use.
enum ModesBeforePrompt {
    /// The indices in `c_cc` of the two elements that store the former modes. Linux uses only lower indices.
    private static let indices = (flags: 17, interrupt: 18)
    /// The pattern in the upper bits of `c_cc[indices.flags]`. It shows that the lower bits store the former modes.
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

    /// Returns the terminal modes from before the prompt, or nil if `modes` are not those of a prompt. Checks the echo
    /// too, because another program may have turned it back on without clearing the two elements of `c_cc`.
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
