import LinuxSystem

/// A value, with what decides whether it may be given out, all as of one time.
package struct GuardedValue: ~Copyable {
    package let value: OpenedValue
    package let attributes: [Attribute]
    /// Those of the entry that was named beside it; none if it is absent.
    package let loginAttributes: [Attribute]
    package let isAccessLogged: Bool

    package consuming func takeValue() -> OpenedValue { value }
}

extension SealedLog {
    /// Opens the value of a name and reads what decides whether it may be given out; nil if it is absent.
    package func openGuarded(_ name: EntryName, of login: EntryName?) throws(LogError) -> GuardedValue? {
        try certain { () throws(LogError) in
            let found = try read { (view) throws(LogError) -> GuardedBox? in try GuardedBox(name, login, in: &view) }
            guard let found else { return nil }
            return GuardedValue(
                value: try OpenedValue(found.value), attributes: found.attributes,
                loginAttributes: found.loginAttributes, isAccessLogged: found.isAccessLogged)
        }
    }
}

/// The same, not yet opened.
private struct GuardedBox: Sendable {
    let value: SealedValue
    let attributes: [Attribute]
    let loginAttributes: [Attribute]
    let isAccessLogged: Bool

    init?(_ name: EntryName, _ login: EntryName?, in view: inout LogView) throws(LogError) {
        guard let content = try GuardedBox.content(of: name, in: &view) else { return nil }
        value = try view.sealed(content.current)
        attributes = content.attributes
        loginAttributes = if let login { try GuardedBox.content(of: login, in: &view)?.attributes ?? [] } else { [] }
        isAccessLogged = view.header.isAccessLogged
    }

    private static func content(of name: EntryName, in view: inout LogView) throws(LogError) -> Entry.Content? {
        guard let entry = try view.find(name), entry.isPresent(at: Clock.milliseconds) else { return nil }
        return entry.content
    }
}
