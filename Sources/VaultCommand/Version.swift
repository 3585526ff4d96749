/// The version of the tool, in this one place.
enum Version {
    static let current = "0.1.0"
}
