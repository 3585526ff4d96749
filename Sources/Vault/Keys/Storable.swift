/// A value in the preferences: plain, readable by any plist tool. Nothing secret.
///
/// ```swift
/// var upgradeAlertIgnored: Storable<Bool> = "u.upgradeIgnored"
/// ```
///
/// The calls that throw, ``StoredKeyed/read()``, ``StoredKeyed/write(_:)`` and so on, are the primary ones: they change nothing about
/// this key itself, and so work from a `static let` and from any thread.
public struct Storable<Value: StoredObject>: StoredKeyed {
    public let stored: StoredKey<Value>

    /// - Parameters:
    ///   - key: the key's name.
    ///   - defaultValue: what reading gives where there is no value.
    ///   - store: a store in place of ``Preferences/standard``, such as a user's own.
    ///   - oldHome: the store that kept the value before. It comes along at the first use, and is removed there after
    ///     it has been stored here.
    public init(
        key: String, default defaultValue: Value? = nil, in store: (any ValueStore)? = nil,
        movedFrom oldHome: StoreReference? = nil
    ) {
        stored = StoredKey(
            key, default: defaultValue, in: store.map { .store($0) } ?? .preferences, movedFrom: oldHome)
    }
}

extension Storable: Sendable where Value: Sendable {}

extension Storable: ExpressibleByStringLiteral, ExpressibleByUnicodeScalarLiteral,
    ExpressibleByExtendedGraphemeClusterLiteral
{
    /// A key without a default in the standard store.
    public init(stringLiteral key: String) {
        self.init(key: key)
    }
}
