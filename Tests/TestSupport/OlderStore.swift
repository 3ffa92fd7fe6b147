import Foundation

/// A store as a version of an older format, or of today's, has left it: with a job that stopped where its source broke off.
///
/// It is a dump of one. The job has read eight records of a file of lines with a model, in four chunks; the identifier's
/// index is not built yet, and an index of the table's own is dropped until then.
package enum OlderStore {
    /// The formats of which there is one.
    package static let formats = [3, 4, 5, 6, 7, 8, 9, 10]

    /// The records; the job has read the first eight of them.
    package static let records = (1...12).map {
        "{\"key\":\"k\($0 % 9)\",\"name\":\"n\($0)\",\"count\":\($0 % 5 == 0 ? "\"x\"" : "\($0)"),\"more\":1}\n"
    }

    /// The table as it was before the import.
    package static let table = """
        CREATE TABLE thing (key TEXT, name TEXT, count INTEGER); CREATE INDEX by_name ON thing (name DESC)
        """

    /// The job's model.
    package static let model = """
        {"entities": {"thing": {"identifier": ["key"], "attributes": {"key": {"type": "string"},
            "name": {"type": "string", "optional": true}, "count": {"type": "integer32", "optional": true}}}}}
        """

    /// Makes the store of the job whose source is `thing.ndjson` in a directory.
    ///
    /// - Returns: its path.
    package static func make(ofFormat format: Int, in directory: TemporaryDirectory) throws -> String {
        let store = directory.path("format-\(format).sqlite")
        let dump = Project.root.appending(path: "Tests/Stores/format-\(format).sql")
        let sql = try String(contentsOf: dump, encoding: .utf8)
        try StoreContent.execute(store, sql.replacing("DIRECTORY", with: directory.path))
        return store
    }
}
