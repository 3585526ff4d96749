import Glibc
import Vault

/// The recipe for a random password. All characters are equally likely, and each class occurs at least once.
struct PasswordRecipe {
    enum CharacterClass: String, CaseIterable {
        case lower, upper, digits, symbols

        fileprivate var characters: String {
            switch self {
            case .lower: "abcdefghijklmnopqrstuvwxyz"
            case .upper: "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
            case .digits: "0123456789"
            case .symbols: "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
            }
        }
    }

    /// Characters that some fonts make hard to distinguish.
    static let ambiguous = "0Oo1lI|"
    static let standardLength = 20
    static let longest = 4_096

    let length: Int
    private let alphabets: [[UInt8]]

    /// - Returns: nil if `classes` is empty or `length` is out of range. The minimum length is the number of classes.
    init?(length: Int = standardLength, classes: Set<CharacterClass>, avoidsAmbiguous: Bool = false) {
        guard !classes.isEmpty, classes.count <= length, length <= PasswordRecipe.longest else { return nil }
        self.length = length
        alphabets = CharacterClass.allCases.filter(classes.contains).map { chosen in
            chosen.characters.utf8.filter { !avoidsAmbiguous || !PasswordRecipe.ambiguous.utf8.contains($0) }
        }
    }

    func password(from numbers: inout UniformNumbers) throws -> SecretBytes {
        let alphabet = alphabets.flatMap(\.self)
        var password = try SecretBytes(zeroCount: length)
        // A password that lacks one of the character classes is discarded as a whole. Inserting a character of the
        // missing class would make some passwords more likely than others.
        repeat {
            password.withUnsafeMutableBytes { password in
                for index in password.indices { password[index] = alphabet[numbers.next(below: alphabet.count)] }
            }
        } while !isComplete(password)
        return password
    }

    private func isComplete(_ password: borrowing SecretBytes) -> Bool {
        password.withUnsafeBytes { password in alphabets.allSatisfy { password.contains(where: $0.contains) } }
    }

    /// The entropy in bits, which is the binary logarithm of the number of possible passwords.
    var entropy: Double {
        let all = alphabets.reduce(0) { $0 + $1.count }
        // The fraction of candidates that contain every class, by inclusion-exclusion over the missing classes.
        let share = (0..<1 << alphabets.count).reduce(0.0) { share, mask in
            let missing = alphabets.indices.filter { mask >> $0 & 1 == 1 }
            let rest = all - missing.reduce(0) { $0 + alphabets[$1].count }
            return share + (missing.count.isMultiple(of: 2) ? 1 : -1) * pow(Double(rest) / Double(all), Double(length))
        }
        return Double(length) * log2(Double(all)) + log2(share)
    }
}
