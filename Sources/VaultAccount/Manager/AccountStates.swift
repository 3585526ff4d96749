import Vault

extension AccountManager {
    /// A sequence of the current state, and then of the latest state after each change, until the task is cancelled.
    public var states: AccountStates<Service> { AccountStates(manager: self) }
}

/// A sequence of an ``AccountManager``'s current state, and then of its latest state after each change.
public struct AccountStates<Service: AccountService>: AsyncSequence, Sendable {
    public typealias Element = AccountState<Service.Profile>

    fileprivate let manager: AccountManager<Service>

    public func makeAsyncIterator() -> Iterator {
        // Only a feed that watches a file can fail, and the manager's feed watches no file.
        let notices = (try? manager.feed.notices()) ?? AsyncStream { $0.finish() }
        return Iterator(manager: manager, notices: notices.makeAsyncIterator())
    }

    /// An iterator over the states, for use by one task.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let manager: AccountManager<Service>
        fileprivate var notices: AsyncStream<Void>.Iterator
        fileprivate var last: Element?

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
