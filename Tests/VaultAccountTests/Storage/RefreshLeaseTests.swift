import Foundation
import Synchronization
import Testing
import Vault
import VaultAccount

/// Several managers, as several processes have them, and a server that ends the session if it sees a refresh token
/// twice.
@Suite("The lease to refresh")
struct RefreshLeaseTests {
    private let fixture: AccountFixture

    init() throws {
        fixture = try AccountFixture()
    }

    /// Counts the refreshes that are on their way at once.
    private final class Traffic: Sendable {
        private let counts = Mutex((now: 0, most: 0))
        var most: Int { counts.withLock { $0.most } }

        func during<Value>(_ body: () async throws(ServiceError) -> Value) async throws(ServiceError) -> Value {
            counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            defer { counts.withLock { $0.now -= 1 } }
            return try await body()
        }
    }

    /// The pause between two attempts is longer than a lease: the second process asks within it.
    @Test func whoAsksAgainAfterALongPauseWaitsForWhoeverHasTheLeaseByThen() async throws {
        let (pauses, otherAsks, waits) = (Gate(), Gate(), Gate())
        let (attempts, traffic) = (Counter(), Traffic())
        var (first, second) = (ScriptedService(), ScriptedService())
        first.refresh = { _ async throws(ServiceError) in
            try await traffic.during { () async throws(ServiceError) in
                defer { waits.open() }
                throw attempts.next() == 1 ? .unreachable("busy", retryAfter: .seconds(20)) : .kicked("seen twice")
            }
        }
        second.refresh = { _ async throws(ServiceError) in
            try await traffic.during { () async throws(ServiceError) in
                otherAsks.open()
                waits.open()
                await waits.wait()
                try? await Task.sleep(for: .milliseconds(50))
                return ScriptedService.tokens(of: "ada", 2)
            }
        }
        let one = fixture.manager(of: first) { options in
            options.sleep = { [fixture] duration in
                if duration < .seconds(1) { return try await Task.sleep(for: .milliseconds(5)) }
                fixture.pass(duration)
                pauses.open()
                await otherAsks.wait()
            }
        }
        try await one.login(userName: "ada", password: "canary-password")
        let other = fixture.manager(of: second)
        other.reload()
        async let refreshed = one.refresh()
        await pauses.wait()
        #expect(try await other.refresh().access == "ada-access-2")
        #expect(try await refreshed.access == "ada-access-2")
        #expect(traffic.most == 1 && attempts.value == 1)
        #expect(one.isLoggedIn && other.reload().isLoggedIn)
    }

    /// The first answer takes longer than a lease, and is a no to a token that the second process has used by then.
    @Test func aNoEndsNothingWhileSomeoneElseIsAboutToGetNewTokens() async throws {
        let (asks, otherAsks, rejected) = (Gate(), Gate(), Gate())
        var (first, second) = (ScriptedService(), ScriptedService())
        first.refresh = { _ async throws(ServiceError) in
            asks.open()
            await otherAsks.wait()
            rejected.open()
            throw .rejected("used already")
        }
        second.refresh = { _ async throws(ServiceError) in
            otherAsks.open()
            await rejected.wait()
            try? await Task.sleep(for: .milliseconds(50))
            return ScriptedService.tokens(of: "ada", 2)
        }
        let one = fixture.manager(of: first) { $0.sleep = { _ in try await Task.sleep(for: .milliseconds(5)) } }
        try await one.login(userName: "ada", password: "canary-password")
        let other = fixture.manager(of: second)
        other.reload()
        async let refreshed = one.refresh()
        await asks.wait()
        fixture.pass(.seconds(16))
        #expect(try await other.refresh().access == "ada-access-2")
        #expect(try await refreshed.access == "ada-access-2")
        #expect(one.isLoggedIn)
    }

    @Test func aLeaseIsRenewedAtEachAttemptAndNotTakenAway() async throws {
        let (asksAgain, waited) = (Gate(), Gate())
        let (attempts, polls, traffic) = (Counter(), Counter(), Traffic())
        var (first, second) = (ScriptedService(), ScriptedService())
        first.refresh = { _ async throws(ServiceError) in
            try await traffic.during { () async throws(ServiceError) in
                guard attempts.next() > 1 else { throw .unreachable("busy", retryAfter: .seconds(10)) }
                asksAgain.open()
                await waited.wait()
                return ScriptedService.tokens(of: "ada", 2)
            }
        }
        second.refresh = { _ async throws(ServiceError) in
            try await traffic.during { () async throws(ServiceError) in throw .kicked("seen twice") }
        }
        let one = fixture.manager(of: first) { $0.sleep = { [fixture] in fixture.pass($0) } }
        try await one.login(userName: "ada", password: "canary-password")
        let other = fixture.manager(of: second) { options in
            options.sleep = { [fixture] _ in
                // 8 seconds after the renewal: 18 after the lease began.
                if polls.next() == 1 { fixture.pass(.seconds(8)) } else { waited.open() }
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        other.reload()
        async let refreshed = one.refresh()
        await asksAgain.wait()
        #expect(try await other.refresh().access == "ada-access-2")
        #expect(try await refreshed.access == "ada-access-2")
        #expect(traffic.most == 1)
    }

    @Test func aLeaseThatHasPassedToSomeoneElseIsNotEndedByTheFormerHolder() async throws {
        var service = ScriptedService()
        let lease = "account/turn/id-ada"
        let theirs = Mutex(StoredValue?.none)
        service.refresh = { [fixture] _ throws(ServiceError) in
            // Someone else has the lease by now: the value is another one.
            guard case .dictionary(var fields)? = try? fixture.keychain.value(of: lease) else {
                throw .rejected("there is no lease")
            }
            fields["holder"] = .string(UUID().uuidString)
            _ = try? fixture.keychain.commit(StoreBatch([lease: .dictionary(fields)]))
            theirs.withLock { $0 = try? fixture.keychain.value(of: lease) }
            return ScriptedService.tokens(of: "ada", 2)
        }
        let manager = fixture.manager(of: service)
        try await manager.login(userName: "ada", password: "canary-password")
        #expect(try await manager.refresh().access == "ada-access-2")
        #expect(theirs.withLock { $0 } != nil)
        #expect(try fixture.keychain.value(of: lease) == theirs.withLock { $0 })
    }
}
