package import Sealing

extension OneTimeKey {
    /// Returns the code for `counter`, which counts codes in HOTP and periods in TOTP.
    ///
    /// - Throws: `outOfMemory`.
    package borrowing func code(of counter: UInt64) throws(OneTimeKeyError) -> SecretBytes {
        do throws(SealingError) {
            let message = withUnsafeBytes(of: counter.bigEndian) { Array($0) }
            let mac = try HMAC.code(message, key: secret, algorithm)
            var text = try SecretBytes(zeros: length)
            text.withUnsafeMutableBytes { write(truncated(mac), into: $0) }
            return text
        } catch { throw .outOfMemory }
    }

    private var length: Int {
        switch form {
        case .digits(let count): count
        case .steam: 5
        }
    }

    /// Returns 31 bits of the MAC, at an offset that the MAC's last byte determines (RFC 4226, section 5.3).
    private borrowing func truncated(_ mac: borrowing SecretBytes) -> UInt32 {
        mac.withUnsafeBytes { mac in
            // The offset is at most 15 and a MAC has at least 20 bytes, so four bytes can be read at the offset.
            let offset = Int(mac[mac.count - 1] & 15)
            return UInt32(bigEndian: mac.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) & 0x7FFF_FFFF
        }
    }

    private func write(_ number: UInt32, into text: UnsafeMutableRawBufferPointer) {
        var rest = number
        switch form {
        case .digits:
            for index in text.indices.reversed() {
                text[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
        case .steam:
            // Steam's codes begin with the least significant digit.
            let alphabet = Array("23456789BCDFGHJKMNPQRTVWXY".utf8)
            for index in text.indices {
                text[index] = alphabet[Int(rest) % alphabet.count]
                rest /= UInt32(alphabet.count)
            }
        }
    }

    /// Returns the `otpauth` URI in `text` with its counter incremented by 1; nil if the key is time-based.
    ///
    /// - Parameter text: the text that the key was parsed from.
    /// - Throws: `outOfMemory`.
    package borrowing func raisingCounter(in text: borrowing SecretBytes) throws(OneTimeKeyError) -> SecretBytes? {
        guard case .counter(let counter) = movingFactor, let range = counterDigits, range.upperBound <= text.count
        else { return nil }
        let digits = Array(String(counter + 1).utf8)
        do throws(SealingError) {
            var raised = try SecretBytes(zeros: text.count - range.count + digits.count)
            raised.withUnsafeMutableBytes { raised in
                text.withUnsafeBytes { text in
                    let end = range.lowerBound + digits.count
                    raised.copyBytes(from: text[..<range.lowerBound])
                    raised[range.lowerBound..<end].copyBytes(from: digits)
                    raised[end...].copyBytes(from: text[range.upperBound...])
                }
            }
            return raised
        } catch { throw .outOfMemory }
    }
}
