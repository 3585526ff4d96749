import Vault

extension AccountManager {
    /// A sequence of the current state, and then of the latest state after each change, until the task is cancelled.
    public var states: AccountStates<Service> { AccountStates(manager: self) }
}

/// The states of an ``AccountManager``: first the current state, and then the latest state after each change.
public struct AccountStates<Service: AccountService>: AsyncSequence, Sendable {
    public typealias Element = AccountState<Service.Profile>

    fileprivate let manager: AccountManager<Service>

    public func makeAsyncIterator() -> Iterator {
        // `notices()` fails only for a feed that watches a file, and the manager's feed watches none.
        let notices = (try? manager.feed.notices()) ?? AsyncStream { $0.finish() }
        return Iterator(manager: manager, notices: notices.makeAsyncIterator())
    }

    /// An iterator over the account's states, for use by a single task.
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
