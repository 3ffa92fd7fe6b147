import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportPostgreSQL

/// How often a small import waits for the server: on a network each time costs a millisecond or more.
@Suite(.enabled(if: PostgreSQLServer.isAvailable)) struct RoundTripTests {
    private let database: PGDatabase
    private let folder: TemporaryDirectory

    init() throws {
        database = try PGDatabase()
        folder = try TemporaryDirectory()
    }

    /// - Returns: the round trips of one import of a file of one record; each login counts as one.
    private func trips(_ number: Int, _ model: ModelDescription?) throws -> Int {
        let source = try folder.write(#"[{"id": \#(number), "name": "n\#(number)"}]"#, to: "r\(number).json")
        var store = PostgreSQLStore(try database.address())
        let counter = RoundTripCounter()
        store.trips = counter
        var options = JobOptions()
        options.model = model
        options.entity = "people"
        var run = RunOptions()
        run.chunkDirectory = folder.path("r.chunks")
        let outcome = try ImportPipeline(sources: [source], into: store, job: options, run: run).run()
        #expect(outcome.report.entities["people"]?.inserted == 1)
        return counter.count
    }

    private func model(_ identifier: String) throws -> ModelDescription {
        try ModelDescription(
            parsing: Array(
                """
                {"entities": {"people": {\(identifier) "attributes": {
                    "id": {"type": "integer64"}, "name": {"type": "string", "optional": true}}}}}
                """.utf8
            )
        )
    }

    @Test func aLaterImportWaitsSeldomForTheServer() throws {
        #expect(try trips(0, nil) <= 30)
        let later = try (1...4).map { try trips($0, nil) }
        #expect(later.allSatisfy { $0 <= 25 }, "\(later)")
        #expect(Set(later).count == 1, "each job makes the next one wait longer: \(later)")
        #expect(try database.query("SELECT count(*) FROM people") == [["5"]])
    }

    @Test func withAModelToo() throws {
        let model = try model("")
        let all = try (0...4).map { try trips($0, model) }
        #expect(all.dropFirst().allSatisfy { $0 <= 25 }, "\(all)")
        #expect(Set(all.dropFirst(2)).count == 1, "\(all)")
    }

    @Test func withAnIdentifierItWaitsForTheSettlingToo() throws {
        let model = try model(#""identifier": ["id"],"#)
        let all = try (0...4).map { try trips($0, model) }
        #expect(all.dropFirst().allSatisfy { $0 <= 40 }, "\(all)")
        #expect(Set(all.dropFirst(2)).count == 1, "\(all)")
    }
}
