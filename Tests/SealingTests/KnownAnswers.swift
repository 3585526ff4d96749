import Foundation
import TestSupport
import Testing

/// Returns the vectors of one file in the folder `Vectors`. Its README states their origin.
func knownAnswers<Vector: Decodable>(_ name: String) throws -> [Vector] {
    let file = try #require(Bundle.module.url(forResource: name, withExtension: "json", subdirectory: "Vectors"))
    let found: [Vector] = try vectors(file)
    try #require(!found.isEmpty)
    return found
}
