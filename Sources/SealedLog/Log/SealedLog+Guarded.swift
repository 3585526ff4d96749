import LinuxSystem

/// A value, together with the data that decides whether it may be returned, all as of one moment.
package struct GuardedValue: ~Copyable {
    package let value: OpenedValue
    package let attributes: [Attribute]
    /// The attributes of the login entry, even if it has expired; none if it was removed.
    package let loginAttributes: [Attribute]
    package let isLoginPresent: Bool
    package let isAccessLogged: Bool

    package consuming func takeValue() -> OpenedValue { value }
}

extension SealedLog {
    /// Opens the value of a name and reads the data that decides whether it may be returned; nil if the name is absent.
    package func openGuarded(_ name: EntryName, of login: EntryName?) throws(LogError) -> GuardedValue? {
        try certain { () throws(LogError) in
            let found = try read { (view) throws(LogError) -> GuardedBox? in try GuardedBox(name, login, in: &view) }
            guard let found else { return nil }
            return GuardedValue(
                value: try OpenedValue(found.value), attributes: found.attributes,
                loginAttributes: found.loginAttributes, isLoginPresent: found.isLoginPresent,
                isAccessLogged: found.isAccessLogged)
        }
    }
}

/// A guarded value that is still sealed.
private struct GuardedBox: Sendable {
    let value: SealedValue
    let attributes: [Attribute]
    let loginAttributes: [Attribute]
    let isLoginPresent: Bool
    let isAccessLogged: Bool

    init?(_ name: EntryName, _ login: EntryName?, in view: inout LogView) throws(LogError) {
        let now = Clock.milliseconds
        guard let content = try view.find(name)?.present(at: now) else { return nil }
        value = try view.sealed(content.current)
        attributes = content.attributes
        let login = if let login { try view.find(login) } else { Entry?.none }
        loginAttributes = login?.content?.attributes ?? []
        isLoginPresent = login?.isPresent(at: now) ?? false
        isAccessLogged = view.header.isAccessLogged
    }
}
