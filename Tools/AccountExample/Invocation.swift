import Foundation

/// What the person wants, from the command line.
struct Invocation {
    enum Command {
        case login(userName: String)
        case whoami
        case check
        case refresh
        case collect(id: String)
        case accounts
        case switchAccount(id: String)
        case migrate(path: String)
        case logout
        case watch
    }

    static let usage = """
        Usage: AccountExample [--server URL] COMMAND
          login NAME    logs in; asks for the password, or reads it from standard input
          whoami        says who is logged in; needs no server
          check         asks the server whether the login still holds
          refresh       gets new tokens
          collect ID    puts something into the collection
          accounts      lists the accounts that have a login here
          switch ID     makes another one the current one
          migrate FILE  takes over an account that an older version kept in a plain file
          logout        logs out
          watch         prints each change of state, until it is interrupted
        The server's address comes from --server or ACCOUNT_EXAMPLE_SERVER.
        """

    let server: URL
    let command: Command

    init(_ arguments: [String], _ environment: [String: String]) throws(Failure) {
        var words = arguments[...]
        var address = environment["ACCOUNT_EXAMPLE_SERVER"] ?? "http://127.0.0.1:8080"
        if words.first == "--server", words.count > 1 {
            address = words[words.startIndex + 1]
            words = words.dropFirst(2)
        }
        guard let server = URL(string: address), ["http", "https"].contains(server.scheme), server.host != nil else {
            throw Failure(.usage, "The server's address has to be a URL such as https://example.org.")
        }
        self.server = server
        command = try Command(words)
    }
}

extension Invocation.Command {
    fileprivate init(_ words: ArraySlice<String>) throws(Failure) {
        switch (words.first, words.dropFirst().first, words.count) {
        case ("login", let name?, 2): self = .login(userName: name)
        case ("whoami", nil, _): self = .whoami
        case ("check", nil, _): self = .check
        case ("refresh", nil, _): self = .refresh
        case ("collect", let id?, 2): self = .collect(id: id)
        case ("accounts", nil, _): self = .accounts
        case ("switch", let id?, 2): self = .switchAccount(id: id)
        case ("migrate", let path?, 2): self = .migrate(path: path)
        case ("logout", nil, _): self = .logout
        case ("watch", nil, _): self = .watch
        // Not what was typed: it may be a password at the wrong place.
        default: throw Failure(.usage, "That is not one of the commands.\n\(Invocation.usage)")
        }
    }
}
