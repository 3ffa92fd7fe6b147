import Foundation
import TestSupport
import Testing

@testable import ImportModel

/// Dates against Python's `datetime`, `zoneinfo` and `email.utils`.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: Project.python)))
struct DateOracleTests {
    /// What distinguishes one coercion from another.
    private struct Rules: Hashable {
        let format: String
        let timeZone: String
        let isWallClock: Bool
    }

    @Test(arguments: ["formats", "calendar", "zones"])
    func takesTheInstantsThatPythonTakes(_ list: String) throws {
        try compare([list], atLeast: 10_000)
    }

    @Test(.enabled(if: SharedData.isPresent))
    func takesTheDatesOfPublishedFiles() throws {
        try compare(["real", SharedData.directory.path], atLeast: 1_000)
    }

    private func compare(_ arguments: [String], atLeast least: Int) throws {
        let result = try Python.run("dates.py", arguments)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        var coercions: [Rules: DateCoercion] = [:]
        var differences: [String] = []
        var count = 0
        for line in result.outputText.split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            try #require(fields.count == 6)
            let rules = Rules(format: fields[0], timeZone: fields[1], isWallClock: fields[2] == "wall")
            let dates =
                try coercions[rules]
                ?? DateCoercion(
                    rules.format,
                    timeZone: rules.timeZone == "-" ? nil : rules.timeZone,
                    isWallClock: rules.isWallClock
                )
            coercions[rules] = dates
            let coerced = coerce(fields[3], with: dates)
            let expected = fields[4] == "error" ? Outcome.error(.wrongForm) : .text(fields[4])
            let kinds = Set(coerced.notes.ledgerKinds.map(\.rawValue))
            var noted = Set(fields[5].split(separator: ",").map(String.init))
            if expected == .text(fields[4]), try Self.text(fields[3]) != fields[4] { noted.insert("respelled") }
            if coerced.outcome != expected || kinds != noted {
                differences.append("\(line): \(coerced.outcome) \(kinds.sorted())")
            }
            count += 1
        }
        #expect(differences.isEmpty, "\(differences.count): \(differences.prefix(20).joined(separator: "\n"))")
        #expect(count >= least)
    }

    /// What a JSON string says, without white space around it; nil for everything else.
    private static func text(_ json: String) throws -> String? {
        guard case .string(let text) = try JSONValue(parsing: Array(json.utf8)) else { return nil }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
