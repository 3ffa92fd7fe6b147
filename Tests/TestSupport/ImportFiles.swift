import Foundation

/// The sources of an import and its job options, in a directory of a test's own.
package struct ImportFiles: Sendable {
    package let directory: TemporaryDirectory
    /// The sources' paths.
    package var sources: [String]
    /// What decides on the result, as the command takes it: the model, and what else was given.
    package let jobOptions: [String]

    /// Writes the sources, and the model as `model.json`.
    package init(_ sources: [(name: String, content: Data)], model: String? = nil, options: [String] = []) throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        self.sources = try sources.map { try directory.write($0.content, to: $0.name) }
        jobOptions = options + (try model.map { ["--model", try directory.write($0, to: "model.json")] } ?? [])
    }

    /// Writes sources of a record per line, named `records0.ndjson` and so on.
    package init(records: [[String]], model: String? = nil, options: [String] = []) throws {
        let sources = records.enumerated().map { index, records in
            (name: "records\(index).ndjson", content: Data(Self.lines(records).utf8))
        }
        try self.init(sources, model: model, options: options)
    }

    /// The path of the model.
    package var model: String { directory.path("model.json") }

    /// Writes one more source of a record per line, and gives back its path.
    package func write(_ records: [String], to name: String) throws -> String {
        try directory.write(Self.lines(records), to: name)
    }

    /// A store of somebody else's making, at this name in the directory; gives back its path.
    package func makeStore(_ name: String, _ sql: String) throws -> String {
        let store = directory.path(name)
        try StoreContent.execute(store, sql)
        return store
    }

    /// The command that imports `sources`, or all of them, into `store`: a path, or a name in the directory.
    package func command(_ sources: [String]? = nil, into store: String, _ options: [String] = []) -> [String] {
        let path = store.hasPrefix("/") ? store : directory.path(store)
        return [Project.importer, "import"] + (sources ?? self.sources) + ["--into", path] + jobOptions + options
    }

    /// What a slow reading in `Tests/Checks` prints for these arguments.
    ///
    /// - Throws: `StoreContent.Failure` where it ends with an error.
    package static func expected(by check: String, _ arguments: [String]) throws -> String {
        let result = try Python.run(check, arguments)
        guard result.ending == .exit(0) else { throw StoreContent.Failure("\(check): \(result.errorText)") }
        return result.outputText.trimmingCharacters(in: .newlines)
    }

    private static func lines(_ records: [String]) -> String { records.joined(separator: "\n") + "\n" }
}
