/// A name in a store together with the type of the value that lies there: what ``Storable``, ``KeychainStorable`` and
/// ``RAMStorable`` are made of.
public struct StoredKey<Value: StoredObject> {
    /// The key's name in the store.
    public let name: String
    /// What reading gives where there is no value.
    public let defaultValue: Value?
    let home: StoreReference
    let oldHome: StoreReference?

    /// - Parameter oldHome: the store that kept the value before; it moves at the first use.
    public init(
        _ name: String, default defaultValue: Value? = nil, in home: StoreReference,
        movedFrom oldHome: StoreReference? = nil
    ) {
        self.name = name
        self.defaultValue = defaultValue
        self.home = home
        self.oldHome = oldHome
    }

    /// The store, with the name checked that is about to be used in it.
    func store() throws(VaultError) -> any ValueStore {
        try Keychain.checkName(name)
        return try home.resolve()
    }
}

extension StoredKey: Sendable where Value: Sendable {}

/// Something that reads and writes the value of one key: ``Storable``, ``KeychainStorable``, ``RAMStorable``.
public protocol StoredKeyed<Value> {
    /// The type of the value.
    associatedtype Value: StoredObject

    /// The key: its name, type and store.
    var stored: StoredKey<Value> { get }
}

extension StoredKey: StoredKeyed {
    public var stored: StoredKey<Value> { self }
}
