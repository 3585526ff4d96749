import Foundation
import FuzzTargets
import Testing
import VaultTesting

/// A target traps where a check fails, so a replay that ends has passed.
@Suite("What fuzzing has found")
struct CorpusTests {
    @Test(arguments: FuzzTarget.all) func theKeptCorpusIsFedToItsTarget(_ target: FuzzTarget) throws {
        let files = try FileManager.default.contentsOfDirectory(at: target.corpus, includingPropertiesForKeys: nil)
        try #require(!files.isEmpty, "the corpus \(target.corpus.path) is empty")
        let folder = try TemporaryFolder()
        for file in files { try target.feed(Array(Data(contentsOf: file)), folder.path) }
    }

    @Test(arguments: FuzzTarget.all) func theSeedsAreFedToTheirTarget(_ target: FuzzTarget) throws {
        let seeds = try target.seeds()
        try #require(!seeds.isEmpty, "there are no seeds")
        let folder = try TemporaryFolder()
        for seed in seeds { try target.feed(seed, folder.path) }
    }
}
