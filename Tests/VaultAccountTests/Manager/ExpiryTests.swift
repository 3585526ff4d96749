import Foundation
import Synchronization
import TestSupport
import Testing
import Vault
import VaultAccount

@Suite("The end of a login by time")
struct ExpiryTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
    }

    @Test func isToldToObserversAlsoIfTheClockIsSetBackMeanwhile() async throws {
        let sleeps = Counter()
        var options = fixture.options(validity: .seconds(60))
        options.clock = fixture.clock { [fixture] duration in
            fixture.pass(sleeps.next() == 1 ? duration - .seconds(1) : duration)
        }
        let manager = try await fixture.loggedIn(options)
        let told = Gate()
        let watching = Task {
            for await state in manager.states {
                guard case .expired = state else { continue }
                return told.open()
            }
        }
        await told.wait()
        watching.cancel()
        guard case .expired = manager.state else {
            Issue.record("\(manager.state)")
            return
        }
        #expect(sleeps.value == 2)
    }

    @Test(arguments: [(30.0, 60.0), (60, 30)]) func isTheEarlierOfTwo(
        _ token: Double, _ validity: Double
    ) async throws {
        let end = fixture.now + token
        var service = ScriptedService()
        service.login = { _ throws(AccountServiceError) in
            AccountLogin(accountID: "id", tokens: AccountTokens(access: "canary", expires: end))
        }
        let manager = fixture.manager(of: service) { $0.validity = .seconds(validity) }
        try await manager.login(userName: "ada", password: "canary-password")
        fixture.pass(.seconds(29))
        #expect(manager.isLoggedIn)
        fixture.pass(.seconds(1))
        #expect(!manager.isLoggedIn)
    }

    @Test(arguments: [-1e300, -1e19, 0, 64_092_211_200, 1e19, 1e21, 1e300])
    func mayLieAsFarAwayAsItLikes(_ seconds: Double) async throws {
        let end = Date(timeIntervalSince1970: seconds)
        var service = ScriptedService()
        service.login = { _ throws(AccountServiceError) in
            AccountLogin(accountID: "id", tokens: AccountTokens(access: "canary", expires: end))
        }
        let slept = Mutex([Duration]())
        let now = fixture.now
        let manager = fixture.manager(of: service) { options in
            options.clock = fixture.clock { duration in
                slept.withLock { $0.append(duration) }
                try await Task.sleep(for: .seconds(60))
            }
        }
        try await manager.login(userName: "ada", password: "canary-password")
        #expect(manager.isLoggedIn == (end > now))
        while manager.isLoggedIn, slept.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
        #expect(slept.withLock { $0 } == (end > now ? [.seconds(3_600)] : []))
        // And at the next start, from the vault.
        #expect(await fixture.manager().autoLogin().isLoggedIn == (end > now))
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(Int64.min)])
    func mayComeFromAnyValidity(_ validity: Duration) async throws {
        let manager = try await fixture.loggedIn(fixture.options(validity: validity))
        #expect(manager.isLoggedIn == (validity > .zero))
    }
}
