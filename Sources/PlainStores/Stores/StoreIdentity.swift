/// The identity of a store, which distinguishes it from other stores.
public struct StoreIdentity: Hashable, Sendable {
    private var object: ObjectIdentifier?
    private var file: String?
    private var scope = ""
    /// The scope in which the store looks up a name that has no value in `scope`; nil if there is no fallback scope.
    private var shownScope: String?

    /// Creates the identity of a store with the given underlying object and scope.
    public init(_ object: AnyObject, scope: String = "") {
        self.object = ObjectIdentifier(object)
        self.scope = scope
    }

    /// Creates the identity of a scoped store. Names without a value in `scope` are looked up in `shownScope`, if any.
    package init(_ object: AnyObject, scope: String, showing shownScope: String?) {
        self.init(object, scope: scope)
        self.shownScope = shownScope
    }

    /// Creates the identity of a store in a file. `path` has no symbolic links, so each file has only one identity.
    init(file path: String) { file = path }

    func scoped(to scope: String) -> StoreIdentity {
        var scoped = self
        scoped.scope += scope
        scoped.shownScope? += scope
        return scoped
    }

    /// Returns whether `name` in this store refers to the same value as `otherName` in the store `other`. Two
    /// stores can share a value, because a scope's values are also in the underlying store.
    func shows(_ other: StoreIdentity, _ otherName: String, as name: String) -> Bool {
        guard object == other.object, file == other.file else { return false }
        // Bytes are compared because strings that Swift considers equal are different names if their bytes differ.
        let bytes = (other.scope + otherName).utf8
        return [scope, shownScope].compactMap(\.self).contains { ($0 + name).utf8.elementsEqual(bytes) }
    }
}
