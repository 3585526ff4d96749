import VaultAccount

// What is sent to the server and what it answers, as JSON.

struct LoginRequest: Encodable {
    var userName: String
    var password: String
}

struct LoginAnswer: Decodable {
    var accountID: String
    var accessToken: String
    var refreshToken: String
    var expiresIn: Double
    var profile: Profile
}

struct RefreshRequest: Encodable {
    var refreshToken: String
}

struct RefreshAnswer: Decodable {
    var accessToken: String
    var refreshToken: String
    var expiresIn: Double
}

struct ValidateAnswer: Decodable {
    var profile: Profile
}

struct CollectRequest: Encodable {
    var id: String
}

struct CollectAnswer: Decodable {
    var collectIds: [String]
}

/// For requests that send nothing, and for answers that say nothing.
struct Nothing: Codable {}

/// Why the server says no. It alone makes an answer a rejection.
struct RefusalAnswer: Decodable {
    var error: String
}
