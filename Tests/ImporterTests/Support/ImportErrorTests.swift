import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

/// What a program learns from an error without reading its text.
struct ImportErrorTests {
    private func error(
        importing text: String,
        _ options: JobOptions = JobOptions()
    ) throws -> (job: LibraryImport, error: ImportError) {
        let job = try LibraryImport(text)
        return (job, try #require(throws: ImportError.self) { try job.pipeline(options).run() })
    }

    @Test func brokenJSONHasItsPathAndItsPosition() throws {
        let (job, error) = try error(importing: #"[{"a": 1},"# + "\n" + #"{"a": x}]"#)
        #expect(error.reason == .notJSON)
        #expect(error.path == job.source)
        #expect(error.position == ImportError.Position(line: 2, column: 7, byteOffset: 17))
    }

    /// A text may go to a terminal; a program opens what it was told.
    @Test func aPathIsAsItWasGivenAndShownWithoutControlCharacters() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("a\nb.json")
        let pipeline = ImportPipeline(
            sources: [path],
            into: directory.path("store.sqlite"),
            job: JobOptions(),
            run: RunOptions()
        )
        let error = try #require(throws: ImportError.self) { try pipeline.run() }
        #expect(error.reason == .fileNotFound)
        #expect(error.path == path)
        #expect(error.message == directory.path("a\\nb.json: no such file"))
    }

    @Test func whatCannotBeginAValueHasItsByte() throws {
        let (job, error) = try error(importing: "  x")
        #expect(error.reason == .notJSON)
        #expect(error.path == job.source)
        #expect(error.position == ImportError.Position(byteOffset: 2))
    }

    @Test func aRejectThatIsTooManyHasItsRecordAndItsKeyPath() throws {
        let attribute = AttributeDescription(name: "a", type: .integer64)
        var options = JobOptions(
            model: ModelDescription(entities: [EntityDescription(name: "e", attributes: [attribute])])
        )
        options.onError = .stop
        let (job, error) = try error(importing: #"[{"a": 1}, {"a": "x"}]"#, options)
        #expect(error.reason == .tooManyRejects)
        #expect(error.path == job.source)
        #expect(error.position == ImportError.Position(byteOffset: 11, record: 2, keyPath: "a"))
    }

    @Test func aModelsMistakesAreNotTextAlone() throws {
        let attribute = AttributeDescription(name: "", type: .integer64)
        let model = ModelDescription(entities: [EntityDescription(name: "e", attributes: [attribute, attribute])])
        let mistakes = try #require(throws: ModelError.self) { try model.check() }
        let (_, error) = try error(importing: "[]", JobOptions(model: model))
        #expect(error.reason == .modelInvalid)
        #expect(error.modelError == mistakes)
        #expect(mistakes.mistakes.count > 1)
    }

    @Test func thoseOfTheSameCauseAreEqualOnlyWhereAllElseIs() throws {
        let one = ImportError(.notJSON, at: "a.json", position: .init(line: 1), "breaks off", advice: "Mend it.")
        #expect(one == ImportError(.notJSON, at: "a.json", position: .init(line: 1), "breaks off", advice: "Mend it."))
        #expect(one != ImportError(.notUTF8, at: "a.json", position: .init(line: 1), "breaks off", advice: "Mend it."))
        #expect(one != ImportError(.notJSON, at: "b.json", position: .init(line: 1), "breaks off", advice: "Mend it."))
        #expect(one != ImportError(.notJSON, at: "a.json", position: .init(line: 2), "breaks off", advice: "Mend it."))
    }

    @Test func foundationSaysWhatItSays() {
        let error: any Error = ImportError(.notJSON, at: "a.json", "leave \(.again) out", advice: "Give \(.restart).")
        #expect(error.localizedDescription == "a.json: leave `again` out")
        #expect((error as NSError).localizedRecoverySuggestion == "Give `restart`.")
    }

    /// The store keeps a failed job's message, for programs and for the command.
    @Test func whatTheStoreKeepsNamesNoSetting() throws {
        var options = JobOptions()
        options.maxErrors = .count(0)
        options.model = ModelDescription(
            entities: [EntityDescription(name: "e", attributes: [AttributeDescription(name: "a", type: .integer64)])]
        )
        let (job, _) = try error(importing: #"[{"a": "x"}]"#, options)
        let message = try #require(try StoreInspection(store: job.store).status().message)
        #expect(message.contains("stops before record 1 (byte 1)"))
        #expect(!message.contains("`") && !message.contains("--"))
    }
}
