package import Sealing

/// The messages that add a private key to an SSH agent, and the agent's answer (draft-miller-ssh-agent, 3.2 and 5.2).
package enum SSHAgentMessage {
    private static let addIdentity: UInt8 = 17
    private static let addConstrained: UInt8 = 25
    private static let lifetimeConstraint: UInt8 = 1
    private static let confirmationConstraint: UInt8 = 2
    private static let success: [UInt8] = [0, 0, 0, 1, 6]

    /// The size of the part of an answer to read: its length, and its type, which shows whether the request succeeded.
    package static let answerSize = 5

    /// Returns the message that adds a key.
    ///
    /// - Parameters:
    ///   - comment: a description of the key for the user.
    ///   - lifetime: the number of seconds after which the agent removes the key; nil for no limit.
    ///   - confirming: whether the agent requests confirmation before each use.
    package static func adding(
        _ key: borrowing SSHKey, comment: String, lifetime: UInt32?, confirming: Bool
    ) throws(SealingError) -> SecretBytes {
        var constraints: [UInt8] = []
        if let lifetime { constraints += [lifetimeConstraint] + bytes(of: lifetime) }
        if confirming { constraints.append(confirmationConstraint) }
        let tail = bytes(of: UInt32(truncatingIfNeeded: comment.utf8.count)) + Array(comment.utf8) + constraints
        let size = 1 + key.fields.count + tail.count
        let head = bytes(of: UInt32(truncatingIfNeeded: size)) + [constraints.isEmpty ? addIdentity : addConstrained]
        var message = try SecretBytes(zeros: 4 + size)
        message.withUnsafeMutableBytes { message in
            message.copyBytes(from: head)
            key.fields.withUnsafeBytes { fields in
                UnsafeMutableRawBufferPointer(rebasing: message[head.count...]).copyMemory(from: fields)
            }
            UnsafeMutableRawBufferPointer(rebasing: message[(head.count + key.fields.count)...]).copyBytes(from: tail)
        }
        return message
    }

    /// Returns whether an agent's answer reports success. Agents give no reason for a failure.
    package static func isSuccess(_ answer: [UInt8]) -> Bool { answer == success }

    private static func bytes(of number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
