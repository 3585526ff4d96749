import OneTimeCode
import Sealing

extension FuzzTarget {
    /// The addresses that one-time codes are computed from.
    static let otpauth = FuzzTarget(name: "otpauth") {
        [
            "otpauth://totp/ACME%20Co:mia@example.org?secret=GEZDGNBVGY3TQOJQ&issuer=ACME%20Co&algorithm=SHA256"
                + "&digits=8&period=60",
            " OTPAUTH://hotp/a?counter=09&secret=gezd%20gnbv%3D&image=x#y\n",
            "otpauth://totp/Steam:mia?secret=GEZDGNBV&encoder=steam&digits=5", "steam://GEZDGNBV",
            "gezd gnbv-gy3t qojq==", "otpauth-migration://offline?data=CjE%3D",
        ].map { Array($0.utf8) }
    } feed: { input, _ in
        let text = try SecretBytes(copyOf: input)
        guard let key = try? OneTimeKey(parsing: text) else { return }
        check(key.secret.count > 0, "a secret is empty")
        try checkCode(of: key)
        guard let raised = try key.raisingCounter(in: text) else { return }
        guard case .counter(let counter) = key.movingFactor else { fatalError("a key by time is raised") }
        // The largest counter cannot be read once it is raised.
        guard let next = try? OneTimeKey(parsing: raised) else {
            return check(counter == UInt64(Int64.max), "a raised counter is not read")
        }
        check(next.movingFactor == .counter(counter + 1), "a counter is not raised by one")
        check(next.secret.isEqual(to: key.secret), "a secret changes with its counter")
        check(next.algorithm == key.algorithm && next.form == key.form, "a key changes with its counter")
        check(next.issuer == key.issuer && next.account == key.account, "names change with their counter")
    }

    private static func checkCode(of key: borrowing OneTimeKey) throws {
        let code = try key.code(of: 1).unsafeArray()
        switch key.form {
        case .digits(let count):
            check((6...8).contains(count) && code.count == count, "a code is too short or too long")
            check(code.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }, "a code is no number")
        case .steam: check(code.count == 5, "a code of Steam does not have five letters")
        }
    }
}
