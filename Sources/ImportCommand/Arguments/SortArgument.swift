import ArgumentParser
import Importer

extension RecordSort {
    /// What `--sort` asks for, given any number of times.
    ///
    /// - Throws: `ValidationError` where a name is missing.
    static func lists(_ texts: [String]) throws -> [RecordSort] {
        do {
            return try texts.flatMap { try list($0) }
        } catch let error as ImportError {
            throw ValidationError("--sort: \(error.message)")
        }
    }
}
