import CLinux
import Glibc
import LinuxSystem

struct Pipe: ~Copyable {
    let reading: FileDescriptor
    let writing: FileDescriptor

    init() throws(CommandError) {
        var ends: [Int32] = [-1, -1]
        guard vault_pipe(&ends) == 0 else { throw .system("No pipe can be opened", errno) }
        reading = FileDescriptor(owning: ends[0])
        writing = FileDescriptor(owning: ends[1])
    }
}

/// Closes a descriptor by ending its lifetime.
func discard(_ descriptor: consuming FileDescriptor) {}
