import Foundation
import VaultAccount

/// A client of a login server that keeps a person logged in: what an app does with an account manager, as a command.
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
