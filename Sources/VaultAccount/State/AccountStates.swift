import FoundationEssentials
import Synchronization
import Vault

/// The states of an ``AccountManager``: the one that a read gives now, then the latest after each change.
public struct AccountStates<Service: AccountService>: AsyncSequence, Sendable {
    public typealias Element = AccountState<Service.Profile>

    let manager: AccountManager<Service>

    public func makeAsyncIterator() -> Iterator {
        Iterator(manager: manager, notices: manager.notices().makeAsyncIterator())
    }

    /// Gives the states one after the other; for one task.
    public struct Iterator: AsyncIteratorProtocol {
        let manager: AccountManager<Service>
        var notices: AsyncStream<Void>.Iterator
        var last: Element?

        public mutating func next() async -> Element? {
            repeat {
                let state = manager.state
                if state != last {
                    last = state
                    return state
                }
            } while await notices.next() != nil
            return nil
        }
    }
}
