import Sealing

/// Seals into an array of the right size.
func sealed(_ message: [UInt8], nonce: Nonce, key: [UInt8]) throws -> [UInt8] {
    var box = [UInt8](repeating: 0, count: message.count + SecretBox.tagSize)
    try message.withUnsafeBytes { message in
        try key.withUnsafeBytes { key in
            try box.withUnsafeMutableBytes { try SecretBox.seal(message, nonce: nonce, key: key, into: $0) }
        }
    }
    return box
}

/// Opens into an array of the right size.
func opened(_ box: [UInt8], nonce: Nonce, key: [UInt8]) throws -> [UInt8] {
    var message = [UInt8](repeating: 0, count: max(0, box.count - SecretBox.tagSize))
    try box.withUnsafeBytes { box in
        try key.withUnsafeBytes { key in
            try message.withUnsafeMutableBytes { try SecretBox.open(box, nonce: nonce, key: key, into: $0) }
        }
    }
    return message
}
