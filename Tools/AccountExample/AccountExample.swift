import Foundation
import VaultAccount

/// Runs a client of a login server that keeps a person logged in: what an app does with an account manager, as a
/// command.
@main
enum AccountExample {
    static func main() async {
        do {
            let invocation = try Invocation(
                Array(CommandLine.arguments.dropFirst()), ProcessInfo.processInfo.environment)
            try await App(server: invocation.server).run(invocation.command)
        } catch {
            Failure(error).end()
        }
    }
}

/// The app: an account manager, and commands that use it.
struct App {
    let service: ExampleService
    let manager: AccountManager<ExampleService>

    init(server: URL) {
        service = ExampleService(server: ServerConnection(server))
        var options = AccountManager<ExampleService>.Options()
        options.validity = .seconds(90 * 24 * 3600)
        manager = AccountManager(service: service, options: options)
    }

    func run(_ command: Invocation.Command) async throws {
        await manager.autoLogin()
        switch command {
        case .login(let userName): try await login(userName)
        case .whoami: try whoami()
        case .check: try await check()
        case .refresh: try await refresh()
        case .collect(let id): try await collect(id)
        case .accounts: try accounts()
        case .switchAccount(let id): try switchAccount(to: id)
        case .migrate(let path): try migrate(path)
        case .logout: try await logout()
        case .watch: try await watch()
        }
    }

    /// Prints what was asked for. Ends the program if standard output cannot be written.
    func say(_ line: String) {
        do { try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8)) } catch {
            Failure(.other, "Standard output cannot be written.").end()
        }
    }

    func note(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("AccountExample: \(line)\n".utf8))
    }
}
