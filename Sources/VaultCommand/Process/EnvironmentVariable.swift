import Glibc

/// Returns a variable of the environment; nil if it is unset or empty.
func environmentVariable(_ name: String) -> String? {
    guard let value = getenv(name).map({ String(cString: $0) }), !value.isEmpty else { return nil }
    return value
}
