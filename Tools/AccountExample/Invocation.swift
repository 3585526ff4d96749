import Foundation

/// Reads the command line.
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
          login NAME    log in; the password comes from the terminal or standard input
          whoami        show who is logged in; needs no server
          check         ask the server whether it still accepts the login
          refresh       get new tokens
          collect ID    add something to the collection
          accounts      list the accounts that have a login here
          switch ID     make another account the current one
          migrate FILE  take over an account that an older version kept in a plain file
          logout        log out
          watch         print each change of state, until interrupted
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
            throw Failure(.usage, "The server's address must be a URL such as https://example.org.")
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
        // Does not repeat what was typed: it may be a misplaced password.
        default: throw Failure(.usage, "Unknown command or wrong number of arguments.\n\(Invocation.usage)")
        }
    }
}
