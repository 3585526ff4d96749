import CLinux
import Glibc
import LinuxSystem

/// A terminal for a child process, behind which this process stands between the child and the person's own terminal.
final class PseudoTerminal {
    /// What the child shows is read from here, and what is written here is typed.
    let outer: FileDescriptor
    /// The path by which the child opens it.
    let path: String
    private let isRaw: Bool
    /// The modes as this process has set them last.
    private var given = termios()

    /// Opens one with the modes and the size of the person's terminal.
    ///
    /// - Parameter isRaw: whether the person's terminal will be raw; otherwise it changes newlines itself.
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

    /// Takes the modes of the person's terminal once more, unless the child has changed its own: while this process is
    /// in the background, the other terminal has those of a shell that reads a line.
    func take(_ modes: termios) {
        var found = termios()
        if tcgetattr(outer.number, &found) == 0, found.isLike(given) { give(modes) }
    }

    private func give(_ modes: termios) {
        var modes = modes
        if !isRaw { modes.c_oflag &= ~tcflag_t(OPOST) }
        tcsetattr(outer.number, TCSANOW, &modes)
        // The kernel does not take all of them.
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
            && withUnsafeBytes(of: c_cc) { keys in
                withUnsafeBytes(of: other.c_cc) { keys.elementsEqual($0) }
            }
    }
}
