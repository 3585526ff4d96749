import CFuzzer
import Foundation
import FuzzTargets

// VaultFuzz TARGET FILE...: feeds files to a target. VaultFuzz --seeds TARGET FOLDER: writes a target's seeds.
//
// Tools/fuzz builds it with -D FUZZING. It is then a libFuzzer program if VAULT_FUZZ_TARGET names a target: libFuzzer
// starts the program again with arguments of its own, so the target is not among them.

/// Ends the program with a sentence.
func die(_ sentence: String) -> Never {
    FileHandle.standardError.write(Data("VaultFuzz: \(sentence)\n".utf8))
    exit(2)
}

/// What libFuzzer's callback needs: a C function, which captures nothing.
enum Run {
    static let environment = ProcessInfo.processInfo.environment
    static let isWritingSeeds = CommandLine.arguments.dropFirst().first == "--seeds"
    static let arguments = CommandLine.arguments.dropFirst(isWritingSeeds ? 2 : 1)
    static let target: FuzzTarget = {
        if let target = FuzzTarget.named(environment["VAULT_FUZZ_TARGET"] ?? arguments.first ?? "") { return target }
        die("name a target: \(FuzzTarget.all.map(\.name).joined(separator: ", "))")
    }()
    static let folder: String = {
        let parent = environment["VAULT_FUZZ_FOLDER"] ?? FileManager.default.temporaryDirectory.path
        return "\(parent)/vault-fuzz-\(getpid())"
    }()

    static func feed(_ input: [UInt8]) {
        do { try target.feed(input, folder) } catch { fatalError("the target could not work: \(error)") }
    }
}

let target = Run.target
try FileManager.default.createDirectory(atPath: Run.folder, withIntermediateDirectories: true)

#if FUZZING
    if Run.environment["VAULT_FUZZ_TARGET"] != nil {
        var count = CommandLine.argc
        var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        let status = LLVMFuzzerRunDriver(&count, &values) { bytes, size in
            Run.feed(Array(UnsafeBufferPointer(start: bytes, count: size)))
            return 0
        }
        exit(status)
    }
#endif

if Run.isWritingSeeds {
    guard Run.arguments.count == 2, let seeds = Run.arguments.last else { die("name a folder for the seeds") }
    for (number, seed) in try target.seeds().enumerated() {
        try Data(seed).write(to: URL(filePath: seeds).appending(path: "seed-\(number)"))
    }
} else {
    for file in Run.arguments.dropFirst() { Run.feed(Array(try Data(contentsOf: URL(filePath: file)))) }
}
try? FileManager.default.removeItem(atPath: Run.folder)
