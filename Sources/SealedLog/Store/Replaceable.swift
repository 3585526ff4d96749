/// A store that another one may replace, since that one includes everything in it. ``NewStore/publish(over:_:)``
/// requires one, so a vault cannot be replaced in any other way.
package struct Replaceable: Sendable {
    /// The store. Its exclusive lock is held until it has been replaced.
    package let store: any RecordStore

    /// - Parameter store: a store that the other one includes. The caller ensures that before it uses this value.
    init(contained store: any RecordStore) { self.store = store }
}
