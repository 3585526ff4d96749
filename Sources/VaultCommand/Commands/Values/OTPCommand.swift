import FoundationEssentials
import OneTimeCode
import Vault

enum OTPCommand: Command {
    static let description = CommandDescription(
        name: .otp, section: .values, summary: "write a one-time code to standard output",
        arguments: [
            .init(name: "NAME", completion: .secretName, help: "The name of a login, whose code is in NAME.otp.")
        ],
        options: [
            .init(name: .next, help: "Write the code after the current one."),
            .init(
                name: .at, value: "TIME",
                help: "Write the code for another time: UTC, such as 2026-01-31T09:05:00Z, or seconds since 1970."),
            ValueForm.newlineOption,
        ],
        details: """
            The code is computed from the entry NAME.otp or, if there is none, from NAME itself. The entry's value is \
            an address such as otpauth://totp/LABEL?secret=SECRET, which the QR code of a service contains, or only a \
            secret in base32 (at least 16 characters), for codes of 6 digits every 30 seconds. `zbarimg --raw -q \
            qr.png | vault set web/github.otp` stores the contents of a QR code from an image.

            At a terminal, if the current code expires in less than 5 seconds, the next one is shown below it, and \
            standard error reports how long the first one is valid.

            Before a counter-based code (otpauth://hotp/) is printed, the counter in the entry is raised, so no code \
            is printed twice. The previous counter becomes part of the history. Do not restore this counter with \
            `vault undo` or `vault restore`, because codes would repeat.
            """,
        examples: [
            .init("vault otp web/github", "write the code that the login requires"),
            .init("vault otp web/github --at 2026-01-31T09:05:00Z", "compare the code with another program's"),
        ],
        exitCodes: [
            .init(.notFound, "no such name; a similar one is suggested"),
            .init(.other, "the value is neither an otpauth:// address nor a secret in base32"),
        ])

    static func run(_ invocation: Invocation) throws -> ExitCode {
        let time = try invocation.time(of: .at)
        let keychain = try invocation.openVault()
        let field = Login.entryName(of: Login.Field.otp.rawValue, in: invocation.name)
        let name = try field.flatMap { try keychain.exists($0) ? $0 : nil } ?? invocation.name
        // This read enforces the reading policy and is logged. The transaction reads again to compute the code.
        _ = try invocation.readingEntry(name, from: keychain)
        // The closure cannot return a noncopyable value, so it assigns the code to this variable.
        var computed: ComputedCode?
        try keychain.transaction { transaction in
            computed = try compute(name, at: time, isNext: invocation.has(.next), in: &transaction, of: keychain)
        }
        guard let computed else { throw keychain.absent(invocation.name) }
        try write(computed, invocation, isNearEnd: time == nil && !invocation.has(.next) && computed.isNearEnd)
        keychain.maintenance.finishUpkeep()
        return .success
    }

    /// Returns the code, or nil if the entry does not exist. Increments the counter of a counter-based code.
    private static func compute(
        _ name: String, at time: Date?, isNext: Bool, in transaction: inout Keychain.Transaction, of keychain: Keychain
    ) throws -> ComputedCode? {
        guard let text = try transaction.get(name) else { return nil }
        let key = try key(text, of: name)
        if let raised = try key.raisingCounter(in: text) {
            guard time == nil, !isNext else {
                throw CommandError.invalid(
                    "The codes of \"\(name)\" are counter-based. Options --next and --at are for time-based codes.")
            }
            // The transaction is retried if another process changes the entry between the read above and this one.
            let item = try keychain.item(name)
            try transaction.put(
                name, SealableValue(kind: item?.valueKind ?? .unspecified, bytes: raised), expires: item?.expires)
        }
        let seconds = UInt64(max((time ?? Date()).timeIntervalSince1970, 0))
        return try ComputedCode(key, at: seconds, isNext: isNext)
    }

    private static func key(_ text: borrowing SecretBytes, of name: String) throws -> OneTimeKey {
        do throws(OneTimeKeyError) { return try OneTimeKey(parsing: text) } catch {
            throw CommandError(code: "wrong-type", exit: .other, message: try sentence(for: error, of: name))
        }
    }

    private static func sentence(for error: OneTimeKeyError, of name: String) throws(SealingError) -> String {
        switch error {
        case .outOfMemory: throw SealingError(.outOfMemory)
        case .unrecognized:
            let isField = Login.split(name)?.field == Login.Field.otp.rawValue
            let field = isField ? name : Login.name(of: .otp, in: name)
            return "The value of \"\(name)\" is neither an otpauth:// address nor a secret in base32. Store one from "
                + "your service under the name \"\(field)\"."
        case .export:
            return "The value of \"\(name)\" is an export of Google Authenticator, which is not supported. Store the "
                + "otpauth:// address of a single code instead."
        case .malformed(let detail): return "The otpauth:// address of \"\(name)\" cannot be used: \(detail)."
        }
    }

    private static func write(_ code: borrowing ComputedCode, _ invocation: Invocation, isNearEnd: Bool) throws {
        if invocation.wantsJSON {
            return try ValueForm.json(code.report(name: invocation.name), "code", code.text)
                .withUnsafeBytes(StandardOutput.write)
        }
        let showsBoth = isNearEnd && StandardOutput.isTerminal
        try ValueForm(newline: showsBoth ? .yes : invocation.newline).write(code.text)
        if showsBoth { try ValueForm(newline: invocation.newline).write(code.following) }
        guard isNearEnd, StandardError.isTerminal, let seconds = code.secondsLeft else { return }
        let time = seconds == 1 ? "1 more second" : "\(seconds) more seconds"
        Notes.inform(
            showsBoth
                ? "The first code is valid for \(time), the second one after that."
                : "The code is valid for \(time). Use --next for the one after it.")
    }
}

private struct ComputedCode: ~Copyable {
    let text: SecretBytes
    let following: SecretBytes
    /// The number of seconds for which the code remains valid; nil for counter-based codes.
    let secondsLeft: Int?
    private let kind: String
    private let counter: UInt64?
    private let (issuer, account): (String?, String?)

    init(_ key: borrowing OneTimeKey, at seconds: UInt64, isNext: Bool) throws {
        let (first, secondsLeft): (UInt64, Int?)
        switch key.movingFactor {
        case .counter(let counter):
            first = counter
            secondsLeft = nil
        case .time(let period):
            let skipped: UInt64 = isNext ? 1 : 0
            first = seconds / period + skipped
            secondsLeft = Int((first + 1) * period - seconds)
        }
        let text = try key.code(of: first)
        let following = try key.code(of: first + 1)
        self.text = text
        self.following = following
        self.secondsLeft = secondsLeft
        counter = secondsLeft == nil ? first : nil
        kind = key.form == .steam ? "steam" : secondsLeft == nil ? "hotp" : "totp"
        issuer = key.issuer
        account = key.account
    }

    var isNearEnd: Bool { secondsLeft.map { $0 < 5 } ?? false }

    func report(name: String) -> JSONObject {
        [
            "name": name, "kind": kind, "seconds_left": secondsLeft, "counter": counter, "issuer": issuer,
            "account": account,
        ]
    }
}

extension Invocation {
    /// Returns the time given with an option, as a date in UTC or in seconds since 1970; nil without the option.
    fileprivate func time(of option: OptionName) throws(UsageError) -> Date? {
        guard let text = value(of: option) else { return nil }
        let date = Int64(text).map { Date(timeIntervalSince1970: Double($0)) } ?? Timestamp.date(text)
        // The limit of 1e12 seconds is reached in the year 33,658. Later times might overflow in calculations.
        guard let date, (0...1e12).contains(date.timeIntervalSince1970) else { throw .badTime(option) }
        return date
    }
}
