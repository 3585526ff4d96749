import Foundation

/// A PostgreSQL server for this process, which runs as an ordinary user in a temporary folder and ends with the
/// process.
package final class Cluster: Sendable {
    package static let shared = Result { try Cluster() }

    /// The reason why no server can be started here; nil if one can. In the full run, the tests start one anyway, and
    /// fail.
    package static let obstacle: String? = {
        let folder = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let isInstalled = versions.contains { access("\(folder)/\($0)/bin/postgres", X_OK) == 0 }
        let isFullRun = ProcessInfo.processInfo.environment["VAULT_TESTS_COMPLETE"] == "1"
        return isInstalled || isFullRun ? nil : "postgres is not installed; it is in the package postgresql"
    }()

    package let socketFolder: String
    package let port: UInt16
    /// The server runs as long as this pipe is open.
    private let lifeline = Pipe()
    private let output = Pipe()

    /// - Parameter settings: the server's settings, such as `fsync=off`.
    package init(_ settings: String...) throws {
        let folder = "/tmp/vault-pg-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        socketFolder = folder
        port = .random(in: 20_000..<60_000)
        let options = settings.map { "-c \($0)" }.joined(separator: " ")
        // initdb and postgres refuse to run as root. The server ends when this process closes its end of the pipe.
        let script = """
            set -e
            as=()
            [ "$(id -u)" != 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups --reset-env --)
            programs=$(echo /usr/lib/postgresql/*/bin | tr ' ' '\\n' | tail -n 1)
            mkdir -m 755 \(folder)
            [ "$(id -u)" != 0 ] || chown 65534:65534 \(folder)
            cd /
            "${as[@]}" "$programs/initdb" -D \(folder)/data -U vault -A trust --no-sync --no-instructions -E UTF8 --locale=C
            start() {
                "${as[@]}" "$programs/postgres" -D \(folder)/data -p \(port) -k \(folder) -c listen_addresses= \
                    -c max_connections=150 -c dynamic_shared_memory_type=mmap \(options) &
                server=$!
                until "$programs/pg_isready" -q -h \(folder) -p \(port); do kill -0 $server; sleep 0.02; done
                echo ready
            }
            end() { # SIGNAL
                kill -"$1" $server
                wait $server || true
            }
            start
            while read -r word; do
                case $word in
                crash) end QUIT; start ;;
                stop) end QUIT; echo ready ;;
                start) start ;;
                esac
            done
            end INT 2>/dev/null || true
            rm -rf \(folder)
            """
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script]
        process.standardInput = lifeline
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        try waitUntilReady()
    }

    /// Ends the server immediately, without a checkpoint, and starts it again.
    package func crash() throws { try send("crash") }
    /// Ends the server immediately. It stays down until ``start()``.
    package func stop() throws { try send("stop") }
    package func start() throws { try send("start") }

    private func send(_ word: String) throws {
        try lifeline.fileHandleForWriting.write(contentsOf: Data("\(word)\n".utf8))
        try waitUntilReady()
    }

    private func waitUntilReady() throws {
        var answer = Data()
        while !answer.contains(Data("ready\n".utf8)) {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw ClusterError(answer: String(decoding: answer, as: UTF8.self)) }
            answer += more
        }
    }

    package func url(_ vault: String) -> String {
        "postgresql://vault@\(socketFolder.replacing("/", with: "%2F")):\(port)/postgres#\(vault)"
    }
}

struct ClusterError: Error {
    let answer: String
}
