/// The result of one check of `vault doctor`.
struct HealthCheck {
    enum State: String { case ok, warning, problem }

    let name: String
    let state: State
    let message: String
    /// The action to take; nil if none is needed, or if the message contains it.
    let fix: String?

    static func ok(_ name: String, _ message: String) -> HealthCheck {
        HealthCheck(name: name, state: .ok, message: message, fix: nil)
    }

    static func warning(_ name: String, _ message: String, fix: String? = nil) -> HealthCheck {
        HealthCheck(name: name, state: .warning, message: message, fix: fix)
    }

    static func problem(_ name: String, _ error: any Error) -> HealthCheck {
        HealthCheck(name: name, state: .problem, message: CommandError(error).message, fix: nil)
    }

    var line: String { "\(TextLayout.padded(state.rawValue, to: 9))\(name): \(message)\(fix.map { " \($0)" } ?? "")\n" }

    var report: JSONObject { ["name": name, "state": state.rawValue, "message": message, "fix": fix] }
}
