// A key tells its name. What reading it gives, a default included, may be a secret, and is told by nothing that prints.

extension StoredKeyed {
    /// The type's name and the key's: `KeychainStorable("u.token")`.
    public var description: String { described(Self.self, stored.name) }
    /// The same as the description.
    public var debugDescription: String { description }
    /// Nothing to look into.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension StoredKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}
extension Storable: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}
extension KeychainStorable: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}
extension RAMStorable: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Stored: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { described(Self.self, projectedValue.stored.name) }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension KeychainStored: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { described(Self.self, projectedValue.stored.name) }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension RAMStored: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { described(Self.self, projectedValue.stored.name) }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A type's name without its parameters, and what tells one value of it from another.
func described(_ type: Any.Type, _ text: String) -> String {
    "\(String(describing: type).prefix { $0 != "<" })(\(text.debugDescription))"
}
