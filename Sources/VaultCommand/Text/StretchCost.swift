import Vault

/// The value of `--argon2id`: passes over the memory, and the memory in MiB.
enum StretchCost {
    static func parse(_ text: String) throws(UsageError) -> KeyFileCost {
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let passes = numbers[0], let mebibytes = numbers[1],
            case (let memory, false) = mebibytes.multipliedReportingOverflow(by: 1 << 20)
        else { throw .badCost }
        return KeyFileCost(passes: passes, memory: memory)
    }

    static let option = OptionDescription(
        name: .argon2id, value: "PASSES,MIB",
        help: "What a guess at a key file costs that was not generated: Argon2id's passes and memory.")
}
