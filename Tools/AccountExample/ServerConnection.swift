import Foundation
import FoundationNetworking
import VaultAccount

/// Sends requests to the server. Requests and answers hold tokens, so neither is cached.
struct ServerConnection: Sendable {
    let address: URL
    private let session: URLSession

    init(_ address: URL) {
        self.address = address
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.timeoutIntervalForRequest = 10
        session = URLSession(configuration: configuration, delegate: NoRedirects(), delegateQueue: nil)
    }

    func get<Answer: Decodable>(
        _ path: String, authorization: String, answer: Answer.Type
    ) async throws(AccountServiceError) -> Answer {
        try await send(request("GET", path, authorization))
    }

    func post<Answer: Decodable>(
        _ path: String, _ body: some Encodable, authorization: String? = nil, answer: Answer.Type
    ) async throws(AccountServiceError) -> Answer {
        var request = request("POST", path, authorization)
        do { request.httpBody = try JSONEncoder().encode(body) } catch {
            throw .unreachable("The request cannot be encoded as JSON.")
        }
        return try await send(request)
    }

    private func request(_ method: String, _ path: String, _ authorization: String?) -> URLRequest {
        var request = URLRequest(url: address.appendingPathComponent(path))
        request.httpMethod = method
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if let authorization { request.setValue(authorization, forHTTPHeaderField: "Authorization") }
        return request
    }

    private func send<Answer: Decodable>(_ request: URLRequest) async throws(AccountServiceError) -> Answer {
        let (data, response): (Data, URLResponse)
        do { (data, response) = try await session.data(for: request) } catch {
            throw .unreachable("There is no connection to \(address.absoluteString).")
        }
        guard let response = response as? HTTPURLResponse else { throw .unreachable("The answer is not HTTP.") }
        if let error = AccountServiceError(response, data) { throw error }
        // The portal of a hotel's network, for example, answers with a page of its own.
        guard let answer = try? JSONDecoder().decode(Answer.self, from: data) else {
            throw .unreachable("The answer from \(address.absoluteString) is not one of this server.")
        }
        return answer
    }
}

/// Refuses redirections: they would carry the token to another host.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension AccountServiceError {
    /// Classifies an answer; nil for success.
    ///
    /// A rejection logs the person out, so only the server's own refusal is one: 401 or 403 with a reason. A proxy's or
    /// a portal's 403, a redirection and a server's own failure say nothing about the login.
    init?(_ response: HTTPURLResponse, _ body: Data) {
        switch response.statusCode {
        case 200..<300: return nil
        case 401, 403:
            guard let refusal = try? JSONDecoder().decode(RefusalAnswer.self, from: body) else { fallthrough }
            self = .init(refusal)
        default:
            self = .unreachable(
                "The server answered with status \(response.statusCode).", retryAfter: response.retryAfter)
        }
    }

    /// Uses sentences of its own: the server's might quote what it was sent.
    private init(_ refusal: RefusalAnswer) {
        self =
            switch refusal.error {
            case "kicked": .endedByServer("It ended the session.")
            case "wrong_password": .rejected("The user name or the password is wrong.")
            default: .rejected("It no longer accepts this login.")
            }
    }
}

extension HTTPURLResponse {
    /// Returns how long the server asks to wait: it sends seconds or a date.
    fileprivate var retryAfter: Duration? {
        guard let text = value(forHTTPHeaderField: "Retry-After") else { return nil }
        if let seconds = Int(text) { return .seconds(max(0, seconds)) }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter.date(from: text).map { .seconds(max(0, $0.timeIntervalSinceNow)) }
    }
}
