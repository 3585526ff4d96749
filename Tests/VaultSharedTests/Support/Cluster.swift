import Foundation
import LinuxSystem
import Sealing
import TestSupport
import Vault

@testable import VaultShared

/// A PostgreSQL server of the test process's own, run as an ordinary user in a temporary folder. It ends with the process.
final class Cluster: Sendable {
    static let shared = Result { try Cluster() }

    let socketFolder: String
    let port: UInt16
    /// The server runs for as long as this is open.
    private let lifeline: Pipe

    private init() throws {
        let folder = "/tmp/vault-pg-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        socketFolder = folder
        port = .random(in: 20_000..<60_000)
        // initdb and postgres refuse to run as root. The server ends once this process has closed its end of the pipe.
        let script = """
            set -e
            as=()
            [ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups --reset-env --)
            programs=$(echo /usr/lib/postgresql/*/bin | tr ' ' '\\n' | tail -n 1)
            mkdir -m 755 \(folder)
            [ "$(id -u)" != 0 ] || chown 65534:65534 \(folder)
            cd /
            "${as[@]}" "$programs/initdb" -D \(folder)/data -U vault -A trust --no-sync --no-instructions -E UTF8 --locale=C
            "${as[@]}" "$programs/postgres" -D \(folder)/data -p \(port) -k \(folder) -c listen_addresses= \
                -c max_connections=150 -c dynamic_shared_memory_type=mmap &
            server=$!
            until "$programs/pg_isready" -q -h \(folder) -p \(port); do kill -0 $server; sleep 0.02; done
            echo ready
            cat
            kill -INT $server
            wait $server || true
            rm -rf \(folder)
            """
        let (process, output) = (Process(), Pipe())
        lifeline = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script]
        process.standardInput = lifeline
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var said = Data()
        while !said.contains(Data("ready\n".utf8)) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw ClusterError(said: String(decoding: said, as: UTF8.self)) }
            said += more
        }
    }

    func url(_ vault: String) -> String {
        "postgresql://vault@\(socketFolder.replacing("/", with: "%2F")):\(port)/postgres#\(vault)"
    }
}

struct ClusterError: Error {
    let said: String
}

/// A vault of a test's own in the database.
struct DatabaseFixture {
    let folder: TemporaryFolder
    let url: String

    init() throws {
        folder = try TemporaryFolder()
        url = try Cluster.shared.get().url("t\(UInt64.random(in: 0 ... .max))")
    }

    /// The places of one of several machines that share the key.
    func places(machine: String = "one") -> VaultPlaces {
        var places = VaultPlaces(
            vault: url, keyFile: folder.file("key"), rollbackMemory: folder.file("\(machine).state"))
        places.cache = folder.file("\(machine).cache")
        return places
    }

    func open(machine: String = "one") throws -> Keychain {
        try Keychain(at: places(machine: machine), creatingIfAbsent: true)
    }
}
