import Foundation
import TestSupport
import Testing

/// The vectors of one file in the folder `Vectors`; its README says where they come from.
func knownAnswers<Vector: Decodable>(_ name: String) throws -> [Vector] {
    let file = try #require(Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"))
    let found: [Vector] = try vectors(file)
    try #require(!found.isEmpty)
    return found
}
