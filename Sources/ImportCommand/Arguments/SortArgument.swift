import ArgumentParser
import Importer

extension RecordSort {
    /// What `--sort created:desc,name:nocase` asks for.
    ///
    /// - Throws: `ValidationError` where a name is missing.
    static func list(_ text: String) throws -> [RecordSort] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { term in
            var words = term.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            var sort = RecordSort("")
            while words.count > 1, let word = words.last {
                if word == "asc" || word == "desc" {
                    sort.ascending = word == "asc"
                } else if let collation = RecordSort.Collation(rawValue: word) {
                    sort.collation = collation
                } else {
                    break
                }
                words.removeLast()
            }
            sort.attribute = words.joined(separator: ":")
            guard !sort.attribute.isEmpty else {
                throw ValidationError(
                    "--sort: a name is missing in '\(text)'; write --sort name or --sort created:desc,name"
                )
            }
            return sort
        }
    }
}
