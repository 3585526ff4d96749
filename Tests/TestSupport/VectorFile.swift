package import Foundation

/// The vectors in a JSON file: a list of one type.
package func vectors<Vector: Decodable>(_ file: URL) throws -> [Vector] {
    try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
}
