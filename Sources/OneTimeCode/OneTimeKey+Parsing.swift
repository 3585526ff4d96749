import Formats
import LinuxSystem
package import Sealing

// The key URI format is described in Google Authenticator's wiki and, as "Usage of otpauth URI", in an Internet draft.

extension OneTimeKey {
    private static let digits: ClosedRange<UInt64> = 6...8
    private static let periods: ClosedRange<UInt64> = 1...86_400
    /// The valid values of a counter from which codes are computed. Incrementing the maximum does not overflow.
    private static let counters = 0...UInt64(Int64.max)
    /// The minimum size, in bytes, of a one-time code's secret that is not part of a URI. No service issues a shorter
    /// secret, and a shorter text could be a password.
    private static let shortestSecret = 10

    /// Parses an `otpauth://` URI, a `steam://` URI or a base32 secret. White space around the text is ignored.
    package init(parsing text: borrowing SecretBytes) throws(OneTimeKeyError) {
        self = try text.withUnsafeBytes { (bytes) throws(OneTimeKeyError) in
            try OneTimeKey(bytes.trimming(while: \.isWhiteSpace))
        }
    }

    private init(_ text: Slice<UnsafeRawBufferPointer>) throws(OneTimeKeyError) {
        if let address = text.dropping(prefix: "otpauth://") {
            try self.init(address: address)
        } else if text.dropping(prefix: "otpauth-migration:") != nil {
            throw .export
        } else if let secret = text.dropping(prefix: "steam://") {
            // Bitwarden stores Steam's keys in the form `steam://SECRET`.
            try self.init(secret: OneTimeKey.secret(secret), form: .steam)
        } else {
            var decoder = try Base32Decoder(upTo: text.count)
            for character in text { decoder.add(character) }
            guard let secret = decoder.finish(), secret.count >= OneTimeKey.shortestSecret else { throw .unrecognized }
            self.init(secret: secret)
        }
    }

    /// - Parameter address: the part of the URI after `otpauth://`, which is `TYPE/LABEL?NAME=VALUE&…`.
    private init(address: Slice<UnsafeRawBufferPointer>) throws(OneTimeKeyError) {
        let address = address.prefix { $0 != UInt8(ascii: "#") }
        let path = address.prefix { $0 != UInt8(ascii: "?") }
        let type = path.prefix { $0 != UInt8(ascii: "/") }
        let label = try OneTimeKey.label(path.dropFirst(type.count + 1))
        let parameters = try KeyURIParameters(address.dropFirst(path.count + 1))
        guard let secret = parameters[.secret] else { throw .malformed("its secret is missing") }

        let issuer = try parameters.text(.issuer) ?? label.issuer
        let form: Form =
            try parameters.isSteam(issuer) ? .steam : .digits(Int(parameters.number(.digits, in: Self.digits) ?? 6))
        let movingFactor: MovingFactor
        if type.isEqual(to: "totp") {
            movingFactor = .time(period: try parameters.number(.period, in: Self.periods) ?? 30)
        } else if type.isEqual(to: "hotp"), form != .steam {
            guard let counter = try parameters.number(.counter, in: Self.counters) else {
                throw .malformed("its counter is missing")
            }
            movingFactor = .counter(counter)
        } else {
            throw .malformed("its type is not supported")
        }
        self.init(
            algorithm: try parameters.algorithm() ?? .sha1, movingFactor: movingFactor, form: form, issuer: issuer,
            account: label.account, secret: try OneTimeKey.secret(secret),
            counterDigits: parameters[.counter].map { $0.startIndex..<$0.endIndex })
    }

    private static func secret(_ text: Slice<UnsafeRawBufferPointer>) throws(OneTimeKeyError) -> SecretBytes {
        var decoder = try Base32Decoder(upTo: text.count)
        guard PercentEncoding.decode(text, { decoder.add($0) }), let secret = decoder.finish() else {
            throw .malformed("its secret is not base32")
        }
        return secret
    }

    /// Splits a label of the form `ISSUER:ACCOUNT` or `ACCOUNT`.
    private static func label(
        _ text: Slice<UnsafeRawBufferPointer>
    ) throws(OneTimeKeyError) -> (issuer: String?, account: String?) {
        guard let label = PercentEncoding.text(text) else { throw .malformed("its label is not valid") }
        let parts = label.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let account = parts.last.map { String($0.drop { $0 == " " }) }
        return (parts.count == 2 ? String(parts[0]).nonempty : nil, account?.nonempty)
    }
}

/// The parameters after the URI's question mark, still percent-encoded.
private struct KeyURIParameters {
    enum Name: String, CaseIterable { case secret, issuer, algorithm, digits, counter, period, encoder }

    private var values: [Name: Slice<UnsafeRawBufferPointer>] = [:]

    init(_ query: Slice<UnsafeRawBufferPointer>) throws(OneTimeKeyError) {
        for part in query.split(separator: UInt8(ascii: "&")) {
            let typed = part.prefix { $0 != UInt8(ascii: "=") }
            // The URI's other parameters, such as the URL of an image, do not affect the one-time codes.
            guard let name = Name.allCases.first(where: { typed.isEqual(to: $0.rawValue) }) else { continue }
            guard values.updateValue(part.dropFirst(typed.count + 1), forKey: name) == nil else {
                throw .malformed("its \(name) is given twice")
            }
        }
    }

    subscript(_ name: Name) -> Slice<UnsafeRawBufferPointer>? { values[name] }

    func text(_ name: Name) throws(OneTimeKeyError) -> String? {
        guard let value = values[name] else { return nil }
        guard let text = PercentEncoding.text(value) else { throw .malformed("its \(name) is not valid") }
        return text.nonempty
    }

    func number(_ name: Name, in range: ClosedRange<UInt64>) throws(OneTimeKeyError) -> UInt64? {
        guard let value = values[name] else { return nil }
        let isNumber = value.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard isNumber, let number = UInt64(String(decoding: value, as: UTF8.self)), range.contains(number) else {
            throw .malformed("its \(name) is not a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func algorithm() throws(OneTimeKeyError) -> OneTimeKey.Algorithm? {
        guard let value = values[.algorithm] else { return nil }
        guard let algorithm = OneTimeKey.Algorithm.allCases.first(where: { value.isEqual(to: $0.rawValue) }) else {
            throw .malformed("its algorithm is not SHA1, SHA256 or SHA512")
        }
        return algorithm
    }

    /// Returns whether the key generates Steam's codes. Steam's URIs name Steam as the issuer. KeePassXC's URIs also
    /// name Steam as the encoder.
    func isSteam(_ issuer: String?) throws(OneTimeKeyError) -> Bool {
        guard let encoder = values[.encoder] else { return issuer?.lowercased() == "steam" }
        guard encoder.isEqual(to: "steam") else { throw .malformed("its encoder is not supported") }
        return true
    }
}
