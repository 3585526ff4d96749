extension TemporaryStores: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "TemporaryStores" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
