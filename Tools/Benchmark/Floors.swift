import CSodium
import Glibc

/// The floor of a get: one bare `crypto_secretbox_open_easy` of a box as large as a value's.
final class BareBox {
    private var box: [UInt8]
    private var opened: [UInt8]
    private let nonce = [UInt8](repeating: 1, count: crypto_secretbox_noncebytes())
    private let key = [UInt8](repeating: 2, count: crypto_secretbox_keybytes())

    init(valueSize: Int) {
        // Values are padded to a multiple of 16.
        let padded = (valueSize + 15) / 16 * 16
        opened = [UInt8](repeating: 0, count: padded)
        box = [UInt8](repeating: 0, count: padded + crypto_secretbox_macbytes())
        crypto_secretbox_easy(&box, opened, UInt64(padded), nonce, key)
    }

    func open() throws {
        guard crypto_secretbox_open_easy(&opened, box, UInt64(box.count), nonce, key) == 0 else {
            throw BenchmarkError(description: "the bare box does not open")
        }
    }
}

/// The floor of a durable set: about a record's bytes written over zeros, and `fdatasync`.
final class BareWrites {
    private static let record = [UInt8](repeating: UInt8(ascii: "r"), count: 256)
    private let file: Int32
    private let count: Int
    private var next = 0

    /// Makes the file with zeros for `count` records: written ones, since the first write to blocks that are only
    /// allocated changes the file's extents.
    init(path: String, count: Int) throws {
        self.count = count
        file = Glibc.open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        let zeros = [UInt8](repeating: 0, count: count * Self.record.count)
        guard file >= 0, Glibc.write(file, zeros, zeros.count) == zeros.count, fsync(file) == 0 else {
            throw BenchmarkError(description: "cannot write \(path): errno \(errno)")
        }
    }

    deinit {
        close(file)
    }

    func write() throws {
        let size = Self.record.count
        guard next < count, pwrite(file, Self.record, size, next * size) == size, fdatasync(file) == 0 else {
            throw BenchmarkError(description: "a bare write failed: errno \(errno)")
        }
        next += 1
    }
}

/// The floor of a durable change of a file that is replaced: a new file, `fsync`, `rename`, and `fsync` of the folder.
struct BareReplacement {
    private let bytes: [UInt8]
    private let path: String

    /// - Parameter original: the file whose size the new ones have.
    init(of original: String) throws {
        var status = stat()
        guard stat(original, &status) == 0 else {
            throw BenchmarkError(description: "there is no \(original)")
        }
        bytes = [UInt8](repeating: UInt8(ascii: "x"), count: Int(status.st_size))
        path = original + ".floor"
    }

    func replace() throws {
        let file = Glibc.open(path + ".new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let folder = Glibc.open(String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)]), O_RDONLY | O_DIRECTORY)
        defer {
            close(file)
            close(folder)
        }
        guard file >= 0, folder >= 0, write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0,
            rename(path + ".new", path) == 0, fsync(folder) == 0
        else { throw BenchmarkError(description: "a bare replacement failed: errno \(errno)") }
    }
}

/// The floor of a read that nothing has changed for: one `stat`.
struct BareStatus {
    private let path: String

    init(of path: String) {
        self.path = path
    }

    func look() throws {
        var status = stat()
        guard stat(path, &status) == 0 else { throw BenchmarkError(description: "there is no \(path)") }
    }
}
