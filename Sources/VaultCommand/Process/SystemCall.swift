import Glibc

/// Retries around system calls.
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
}
