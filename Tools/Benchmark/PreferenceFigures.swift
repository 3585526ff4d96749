import Glibc
import Vault

/// What a change of one of a hundred preferences takes, beside a bare replacement of a file as large.
struct PreferenceFigures {
    private static let keys = 100
    private static let rounds = 300
    private let path: String

    init(path: String) {
        self.path = path
    }

    /// Returns the median of the ratios of two times that took turns.
    func ratio() throws -> Double {
        let preferences = Preferences(path: path)
        try preferences.atomically { transaction in
            for number in 0..<Self.keys { try transaction.write(number, to: key(number, in: preferences)) }
        }
        let floor = try BareReplacement(of: path)
        let ratios = try (0..<Self.rounds).map { round in
            let key = key(round % Self.keys, in: preferences)
            // A set that changes nothing writes nothing.
            let ours = try ContinuousClock().measure { try key.write(Self.keys + round) }
            return ours / (try ContinuousClock().measure(floor.replace))
        }
        return ratios.sorted()[Self.rounds / 2]
    }

    private func key(_ number: Int, in preferences: Preferences) -> DefaultedKey<Storable<Int>> {
        Storable("key-\(number)", in: .store(preferences)).defaulting(to: 0)
    }
}

/// The floor of a durable change of a file that is replaced: a new file, `fsync`, `rename`, and `fsync` of the folder.
private struct BareReplacement {
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
