// A store tells where it is. Its values, and what it keeps of them in memory, are told by nothing that prints.

extension Keychain: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The vault's path.
    public var description: String { described(Keychain.self, places.vault) }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension MemoryStore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "MemoryStore" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension StoreBatch: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The keys that are changed.
    public var description: String { "StoreBatch(\(Array(changes.keys).sortedByBytes()))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Returns a type's name without its parameters, and the text that distinguishes a value of it.
func described(_ type: Any.Type, _ text: String) -> String {
    "\(String(describing: type).prefix { $0 != "<" })(\(text.debugDescription))"
}
