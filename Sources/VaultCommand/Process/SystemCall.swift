import Glibc

/// Retries and words for system calls.
enum SystemCall {
    /// Repeats a call that a signal interrupted. Returns nil and the error's number if it failed.
    static func retrying(_ call: () -> Int) -> (result: Int?, error: Int32) {
        while true {
            let result = call()
            if result >= 0 { return (result, 0) }
            if errno != EINTR { return (nil, errno) }
        }
    }

    /// Writes all bytes, in as few calls as possible. Returns 0 or the error's number.
    static func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let (written, error) = retrying { write(descriptor, part.baseAddress, part.count) }
            if let written {
                rest = rest.dropFirst(written)
            } else if error == EAGAIN {
                // The pipe is non-blocking: wait for the reader instead of losing the rest.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&wait, 1, -1)
            } else {
                return error
            }
        }
        return 0
    }

    /// Returns the width of the terminal behind a descriptor; nil if it is unknown or there is no terminal.
    static func columns(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// The system's words for an error number, such as "No such file or directory".
    static func text(of number: Int32) -> String {
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }
}
