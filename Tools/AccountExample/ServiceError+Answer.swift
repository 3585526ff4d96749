import Foundation
import FoundationNetworking
import VaultAccount

extension ServiceError {
    /// What an answer other than success means; nil for success.
    ///
    /// A rejection logs the person out, so only the server's own no is one: 401 or 403 with its reason in it. A proxy's or a portal's
    /// 403, a page that has moved and a server's own failure say nothing about the login.
    init?(_ response: HTTPURLResponse, _ body: Data) {
        switch response.statusCode {
        case 200..<300: return nil
        case 401, 403:
            guard let refusal = try? JSONDecoder().decode(RefusalAnswer.self, from: body) else { fallthrough }
            self = .init(refusal)
        default:
            self = .unreachable(
                "The server answers with status \(response.statusCode).", retryAfter: response.retryAfter)
        }
    }

    /// Sentences of our own: the server's might quote what it was sent.
    private init(_ refusal: RefusalAnswer) {
        self =
            switch refusal.error {
            case "kicked": .kicked("It has ended the session.")
            case "wrong_password": .rejected("The user name or the password is wrong.")
            default: .rejected("It no longer takes this login.")
            }
    }
}

extension HTTPURLResponse {
    /// How long the server wants to be left alone: seconds, or a date.
    fileprivate var retryAfter: Duration? {
        guard let text = value(forHTTPHeaderField: "Retry-After") else { return nil }
        if let seconds = Int(text) { return .seconds(max(0, seconds)) }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter.date(from: text).map { .seconds(max(0, $0.timeIntervalSinceNow)) }
    }
}
