/// Distinguishes one store from another.
public struct StoreIdentity: Hashable, Sendable {
    private var object: ObjectIdentifier?
    private var file: String?
    private var scope = ""
    /// The scope in which a name without a value in this scope is looked up; nil for none.
    private var shownScope: String?

    /// Identifies a store by its underlying object and its scope.
    public init(_ object: AnyObject, scope: String = "") {
        self.object = ObjectIdentifier(object)
        self.scope = scope
    }

    /// Identifies a part of a store that shows the store's own values too.
    package init(_ object: AnyObject, scope: String, showing shownScope: String?) {
        self.init(object, scope: scope)
        self.shownScope = shownScope
    }

    /// Identifies a store by its file's path, without symbolic links: stores on one file are one store.
    init(file path: String) { file = path }

    func scoped(to scope: String) -> StoreIdentity {
        var scoped = self
        scoped.scope += scope
        scoped.shownScope? += scope
        return scoped
    }

    /// Whether `name` of this store shows the value that another store has as `otherName`: a scope's values are those
    /// of the store below.
    func shows(_ other: StoreIdentity, _ otherName: String, as name: String) -> Bool {
        guard object == other.object, file == other.file else { return false }
        // Bytes are compared: equal strings can be different names.
        let bytes = (other.scope + otherName).utf8
        return [scope, shownScope].compactMap(\.self).contains { ($0 + name).utf8.elementsEqual(bytes) }
    }
}
