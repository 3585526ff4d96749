import Foundation
import FoundationNetworking
import VaultAccount

/// Requests to the server. Nothing of them or of their answers is cached: both hold tokens.
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
    ) async throws(ServiceError) -> Answer {
        try await send(request("GET", path, authorization))
    }

    func post<Answer: Decodable>(
        _ path: String, _ body: some Encodable, authorization: String? = nil, answer: Answer.Type
    ) async throws(ServiceError) -> Answer {
        var request = request("POST", path, authorization)
        do { request.httpBody = try JSONEncoder().encode(body) } catch {
            throw .unreachable("The request cannot be written as JSON.")
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

    private func send<Answer: Decodable>(_ request: URLRequest) async throws(ServiceError) -> Answer {
        let (data, response): (Data, URLResponse)
        do { (data, response) = try await session.data(for: request) } catch {
            throw .unreachable("There is no connection to \(address.absoluteString).")
        }
        guard let response = response as? HTTPURLResponse else { throw .unreachable("That was no HTTP.") }
        if let error = ServiceError(response, data) { throw error }
        // A portal of a hotel's network, say, answers with a page of its own.
        guard let answer = try? JSONDecoder().decode(Answer.self, from: data) else {
            throw .unreachable("What answers at \(address.absoluteString) does not speak as the server does.")
        }
        return answer
    }
}

/// A redirection would carry the token to wherever it points.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
