import CLinux
import Glibc
import LinuxSystem

/// A pseudoterminal on which a child process runs. This process connects it to the user's own terminal.
final class PseudoTerminal {
    /// This process's end of the terminal. Reads return the child's output, and writes become the child's input.
    let outer: FileDescriptor
    /// The path at which the child opens its end of the terminal.
    let path: String
    private let isRaw: Bool
    /// The modes that this process last set on the child's terminal, to detect whether the child has changed them.
    private var given = termios()

    /// Opens a terminal with the modes and the size of the user's terminal.
    ///
    /// - Parameter isRaw: whether the user's terminal will be raw. If not, only that terminal converts newlines.
    init(like descriptor: Int32, isRaw: Bool) throws(CommandError) {
        var name = [CChar](repeating: 0, count: 128)
        let number = try SystemCall.retrying("No terminal could be opened for the program") {
            vault_open_terminal(&name, UInt64(name.count))
        }
        outer = FileDescriptor(owning: number)
        path = String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        self.isRaw = isRaw
        var modes = termios()
        if tcgetattr(descriptor, &modes) == 0 { give(modes) }
        takeSize(of: descriptor)
    }

    /// Copies the user's terminal modes again, unless the child has changed those of its own terminal. A copy that
    /// was made while this process was in the background is wrong: it has the modes that a shell set for its prompt.
    func take(_ modes: termios) {
        var found = termios()
        if tcgetattr(outer.number, &found) == 0, found.isLike(given) { give(modes) }
    }

    private func give(_ modes: termios) {
        var modes = modes
        if !isRaw { modes.c_oflag &= ~tcflag_t(OPOST) }
        tcsetattr(outer.number, TCSANOW, &modes)
        // The kernel may ignore some of the terminal modes, so the effective ones are read back.
        tcgetattr(outer.number, &given)
    }

    func takeSize(of descriptor: Int32) {
        var size = winsize()
        if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 { _ = ioctl(outer.number, UInt(TIOCSWINSZ), &size) }
    }
}

extension termios {
    fileprivate func isLike(_ other: termios) -> Bool {
        let isSameFlags = (c_iflag, c_oflag, c_lflag) == (other.c_iflag, other.c_oflag, other.c_lflag)
        return isSameFlags
            && withUnsafeBytes(of: c_cc) { keys in withUnsafeBytes(of: other.c_cc) { keys.elementsEqual($0) } }
    }
}
