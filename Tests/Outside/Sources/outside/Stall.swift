import Foundation
import Synchronization
import Vault
import VaultAccount

/// Writes and refreshes while another process holds the vault's lock, and prints the longest pause of a ticker that
/// ticks each 50 ms. The test holds the lock from "ready" on, for some seconds.
@MainActor func stall() async throws {
    let token = KeychainStorable<Int>("number")
    try await token.write(0)
    let manager = AccountManager(service: Server())
    try await manager.login(userName: "ada", password: "p")
    print("vault \(try Keychain.standard.location.vault)")
    fflush(nil)
    _ = readLine()
    let longest = Mutex(Duration.zero)
    let ticker = Task.detached {
        var last = ContinuousClock.now
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(50))
            let now = ContinuousClock.now
            let pause = now - last - .milliseconds(50)
            longest.withLock { $0 = max($0, pause) }
            last = now
        }
    }
    let work = Task.detached {
        try await withThrowingTaskGroup { group in
            for number in 1...4 { group.addTask { try await token.write(number) } }
            group.addTask { _ = try await manager.refresh() }
            group.addTask { _ = try await manager.refresh() }
            try await group.waitForAll()
        }
    }
    try await work.value
    ticker.cancel()
    print("longest stall \(Int(longest.withLock { $0 } / .milliseconds(1))) ms")
}

/// Writes a token, if there is one, and prints the present one.
@MainActor func token(_ new: String?) async throws {
    let token: KeychainStorable<String> = "u.token"
    if let new { try await token.write(new) }
    print(try await token.read() ?? "none")
}
