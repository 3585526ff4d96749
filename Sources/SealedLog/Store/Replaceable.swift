/// A store that another one may replace, since that one has all that is in it. A vault is replaced in no other way:
/// ``RecordStore/publish(over:_:)`` asks for one.
package struct Replaceable: Sendable {
    /// Its exclusive lock is held until the other one is in its place.
    package let store: any RecordStore

    /// - Parameter store: all that is in it is in the other one: the caller knows, or finds out before it uses this.
    init(contained store: any RecordStore) { self.store = store }
}
