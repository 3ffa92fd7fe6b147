import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportEngine

/// Entities of data that other people published.
@Suite(.enabled(if: SharedData.isPresent, "no shared data"))
struct InferringRealDataTests {
    private func entity(of file: String, at path: [String] = [], lines: Bool = false) throws -> EntityDescription {
        let statistics = try SharedData.statistics(of: file, at: path, lines: lines)
        let entity = statistics.entity(named: "e").entity
        #expect(Set(entity.attributes.map { $0.column.lowercased() }).count == entity.attributes.count)
        #expect(entity.attributes.count <= statistics.limits.columns + 1)
        return entity
    }

    @Test func countriesKeepTranslationsAsADictionary() throws {
        let entity = try entity(of: "countries-states-cities/countries.json")
        #expect(entity.attribute("id") == "integer64")
        #expect(entity.attribute("name") == "string")
        #expect(entity.attribute("latitude") == "string")
        #expect(entity.attribute("translations") == "json")
        #expect(entity.attribute("timezones") == "json")
        #expect(entity.attribute("gdp")?.hasSuffix("?") == true)
    }

    @Test func statusesBecomeColumnsThroughAllDepths() throws {
        let entity = try entity(of: "twitter.json", at: ["statuses"])
        #expect(entity.attribute("id") == "integer64")
        #expect(entity.attribute("created_at") == "string")
        #expect(entity.attribute("user_screen_name") == "string")
        #expect(entity.attribute("user_entities_description_urls") == "json")
        #expect(entity.attribute("retweeted_status_user_id") == "integer64?")
        #expect(entity.attribute("geo") == "string?")
    }

    @Test func ratingsThatAreNumbersAndTextAreText() throws {
        let entity = try entity(of: "mongodb-json-files/restaurant.json.gz", lines: true)
        #expect(entity.attribute("rating") == "string")
        #expect(entity.attribute("address") == "string")
        #expect(entity.attribute("address line 2") == "string")
        #expect(entity.attribute("_id") == "string")
    }

    @Test func eventsKeepPayloadsThatAreEverEmptyAsJSON() throws {
        let entity = try entity(of: "gharchive/2015-01-01-0.json.gz", lines: true)
        #expect(entity.attribute("id") == "string")
        #expect(entity.attribute("type") == "string")
        #expect(entity.attribute("created_at") == "date")
        #expect(entity.attribute("actor_id") == "integer64")
        #expect(entity.attribute("org_login") == "string?")
        // Some events have `"payload":{}`, which columns could not tell from none.
        #expect(entity.attribute("payload") == "json")
        #expect(entity.attributes.count == 18)
    }

    @Test func payloadsOf500KeyPathsBecomeColumns() throws {
        let entity = try entity(of: "gharchive/2015-01-01-0.json.gz", at: ["payload"], lines: true)
        #expect(entity.attribute("pull_request_base_repo_owner_login") == "string?")
        #expect(entity.attribute("commits") == "json?")
        #expect(entity.attributes.count > 400)
    }

    @Test func coordinatesStayJSON() throws {
        let entity = try entity(of: "canada.json.gz", at: ["features"])
        #expect(
            entity.summary == [
                "type: string", "properties_name: string from properties/name",
                "geometry_type: string from geometry/type", "geometry_coordinates: json from geometry/coordinates",
            ]
        )
    }

    @Test func productsWithHundredsOfKeysBecomeColumns() throws {
        let entity = try entity(of: "openbeautyfacts-products-min.jsonl.gz", lines: true)
        #expect(entity.attribute("code") == "string")
        #expect(entity.attribute("images")?.hasPrefix("json") == true)
        #expect(entity.attribute("rev")?.hasPrefix("string") == true)
        #expect(entity.attributes.count > 386)
    }

    @Test func filmsHaveIdentifiersNeitherInTitlesNorInYears() throws {
        let statistics = try SharedData.statistics(of: "vega-movies.json.gz", at: [], lines: false)
        let (entity, notices) = statistics.entity(named: "film")
        #expect(entity.attribute("Title") == "string?")
        #expect(!notices.contains { if case .identifierCandidate = $0.finding { true } else { false } })
    }

    @Test func currenciesAndLanguagesByCodeStayJSON() throws {
        let entity = try entity(of: "mledoze-countries.json.gz")
        #expect(entity.attribute("currencies")?.hasPrefix("json") == true)
        #expect(entity.attribute("languages")?.hasPrefix("json") == true)
        #expect(entity.attribute("name_common") == "string")
    }
}

extension SharedData {
    /// Gathers the elements of the array at a path, or what is at a path of every line.
    fileprivate static func statistics(of file: String, at path: [String], lines: Bool) throws -> EntityStatistics {
        var statistics = EntityStatistics()
        let reader = RecordReader(maxDepth: 1024)
        let bytes = try bytes(of: file)
        var ordinal: Int64 = 0
        if lines {
            for line in bytes.split(separator: UInt8(ascii: "\n")) {
                ordinal += 1
                try (line + [UInt8(ascii: "\n")]).withUnsafeBufferPointer { buffer in
                    let record = ByteView(buffer)
                    try #require(reader.read(line: record) == .record)
                    let root = try path.reduce(0) { try #require(member($1, of: $0, reader.tape, record)) }
                    statistics.add(reader.tape, record: record, root: root, ordinal: ordinal)
                }
            }
            return statistics
        }
        try bytes.withUnsafeBufferPointer { buffer in
            let document = ByteView(buffer)
            try #require(reader.read(line: document) == .record)
            let tape = reader.tape
            var index = 0
            for key in path { index = try #require(member(key, of: index, tape, document)) }
            let end = Int(tape.tokens[index].next)
            index += 1
            while index < end {
                ordinal += 1
                statistics.add(tape, record: document, root: index, ordinal: ordinal)
                index = Int(tape.tokens[index].next)
            }
        }
        return statistics
    }

    private static func member(_ key: String, of object: Int, _ tape: RecordTape, _ document: ByteView) -> Int? {
        var index = object + 1
        while index < Int(tape.tokens[object].next) {
            if Array(tape.token(index, in: document).bytes.buffer) == Array(key.utf8) { return index + 1 }
            index = Int(tape.tokens[index + 1].next)
        }
        return nil
    }

    private static func bytes(of file: String) throws -> [UInt8] {
        let url = directory.appendingPathComponent(file)
        guard file.hasSuffix(".gz") else { return [UInt8](try Data(contentsOf: url)) + [UInt8(ascii: "\n")] }
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["gzip", "-dc", url.path]
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return [UInt8](data) + [UInt8(ascii: "\n")]
    }
}
