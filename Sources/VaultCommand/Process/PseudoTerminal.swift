import CLinux
import Glibc
import LinuxSystem

/// A terminal for a child process, behind which this process stands between the child and the person's own terminal.
final class PseudoTerminal {
    /// What the child shows is read from here, and what is written here is typed.
    let outer: FileDescriptor
    /// The path by which the child opens it.
    let path: String

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
        var modes = termios()
        if tcgetattr(descriptor, &modes) == 0 {
            if !isRaw { modes.c_oflag &= ~tcflag_t(OPOST) }
            tcsetattr(outer.number, TCSANOW, &modes)
        }
        takeSize(of: descriptor)
    }

    func takeSize(of descriptor: Int32) {
        var size = winsize()
        if ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 { _ = ioctl(outer.number, UInt(TIOCSWINSZ), &size) }
    }
}

/// The person's terminal, which passes on each key as it is while another program reads them.
final class RawTerminal {
    private let descriptor: Int32
    private let former: termios

    /// nil if the descriptor is no terminal.
    init?(_ descriptor: Int32) {
        var modes = termios()
        guard tcgetattr(descriptor, &modes) == 0 else { return nil }
        (self.descriptor, former) = (descriptor, modes)
        begin()
    }

    deinit { end() }

    func begin() {
        var modes = former
        cfmakeraw(&modes)
        tcsetattr(descriptor, TCSADRAIN, &modes)
    }

    func end() {
        // Another program's terminal is left to it.
        guard ProcessState.isInFront(at: descriptor) else { return }
        var modes = former
        tcsetattr(descriptor, TCSADRAIN, &modes)
    }
}
