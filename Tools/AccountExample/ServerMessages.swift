import VaultAccount

// Requests and answers, as JSON.

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

/// Is the body of a request or an answer without content.
struct Nothing: Codable {}

/// Tells why the server refused. Only an answer with it is a rejection.
struct RefusalAnswer: Decodable {
    var error: String
}
