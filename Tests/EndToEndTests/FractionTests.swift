import Foundation
import TestSupport
import Testing

/// Dates with six and nine digits of a second: from import to undo.
struct FractionTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let fine = """
        {"id": 1, "at": "2024-01-02T03:04:05.123999Z"}
        {"id": 2, "at": "2024-01-02T03:04:06Z"}
        """

    private static func model(_ fraction: Int) -> String {
        """
        {"entities": {"e": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"},
          "at": {"type": "date", "optional": true, "fraction": \(fraction)}}}}}
        """
    }

    @discardableResult
    private func importer(_ arguments: String..., code: Int32 = 0) throws -> String {
        let result = try run([Project.importer] + arguments)
        #expect(result.ending == .exit(code), "\(arguments): \(result.outputText)\(result.errorText)")
        return result.outputText + result.errorText
    }

    @discardableResult
    private func night(_ records: String, _ options: String..., store: String = "s", code: Int32 = 0) throws -> String {
        let source = try directory.write(records, to: "\(UUID()).ndjson")
        let command = [Project.importer, "import", source, "--into", directory.path(store), "--entity", "e"]
        let result = try run(command + options)
        #expect(result.ending == .exit(code), "\(options): \(result.outputText)\(result.errorText)")
        return result.outputText + result.errorText
    }

    private func dates(_ store: String = "s", _ options: String...) throws -> String {
        let command = [Project.importer, "fetch", directory.path(store), "e", "--columns", "at", "--format", "csv"]
        return try run(command + options).outputText.split(whereSeparator: \.isNewline).dropFirst().joined(
            separator: " "
        )
    }

    @Test func inferenceTakesTheMostThatAnyValueHas() throws {
        try night(Self.fine, "--identifier", "id")
        #expect(try dates() == "2024-01-02T03:04:05.123999Z 2024-01-02T03:04:06.000000Z")
        #expect(try dates("s", "--where", "at = '2024-01-02T03:04:06Z'") == "2024-01-02T03:04:06.000000Z")
        #expect(try dates("s", "--where", "at > '2024-01-02T03:04:05.123998Z' and at < '2024-01-02T03:04:06Z'") != "")
        #expect(try dates("s", "--dates", "unix") == "1704164645.123999 1704164646")
        try night(#"{"at": "2024-01-02T04:04:05.1234567+01:00"}"#, "--type", "at:date", store: "offset")
        #expect(try dates("offset") == "2024-01-02T03:04:05.123456700Z")
        try night(#"{"at": [2024, 1, 2, 3, 4, 5, 678000001]}"#, "--type", "at:date(9)", store: "array")
        #expect(try dates("array") == "2024-01-02T03:04:05.678000001Z")
        #expect(try night(Self.fine, "--type", "at:date(4)", store: "none", code: 64).contains("date(4)"))
    }

    /// A column keeps its digits, and says what they have cost, until it is migrated.
    @Test func aColumnOfThreeDigitsIsMigratedToSix() throws {
        try night(#"{"id": 1, "at": "2024-01-02T03:04:05.123Z"}"#, "--identifier", "id")
        for options in [["--type", "at:date"], []] {
            let command = [Project.importer, "import", try directory.write(Self.fine, to: "fine.ndjson"), "--again"]
            let said = try run(command + ["--into", directory.path("s"), "--entity", "e"] + options)
            #expect(said.outputText.contains("digits of a second lost"), "\(said.outputText)\(said.errorText)")
        }
        #expect(try dates() == "2024-01-02T03:04:05.123Z 2024-01-02T03:04:06.000Z")
        let six = try directory.write(Self.model(6), to: "six.json")
        let three = try directory.write(Self.model(3), to: "three.json")
        #expect(try night(Self.fine, "--model", six, code: 65).contains("has 6 digits of a second instead of 3"))
        try importer("migrate", directory.path("s"), "--model", six)
        #expect(try dates() == "2024-01-02T03:04:05.123000Z 2024-01-02T03:04:06.000000Z")
        let expected = "2024-01-02T03:04:05.123999Z 2024-01-02T03:04:06.000000Z"
        #expect(try night(Self.fine, "--model", six).contains("updated   1"))
        #expect(try dates() == expected)
        let refused = try importer("migrate", directory.path("s"), "--model", three, code: 65)
        #expect(refused.contains("1: their digits would be lost"))
        #expect(try dates() == expected)
        try importer("verify", directory.path("s"))
        try importer("migrate", directory.path("s"), "--model", three, "--allow-loss")
        #expect(try dates() == "2024-01-02T03:04:05.123Z 2024-01-02T03:04:06.000Z")
    }

    @Test func changeSetsHaveAllDigits() throws {
        try night(Self.fine, "--identifier", "id", store: "old")
        try night(Self.fine.replacing("123999", with: "123998"), "--identifier", "id", store: "new")
        let command = [Project.importer, "diff", directory.path("old"), directory.path("new"), "--format", "ndjson"]
        let changes = try directory.write(run(command).outputText, to: "changes.ndjson")
        try importer("patch", directory.path("old"), changes)
        #expect(try dates("old") == "2024-01-02T03:04:05.123998Z 2024-01-02T03:04:06.000000Z")
        try importer("undo", directory.path("old"))
        #expect(try dates("old") == "2024-01-02T03:04:05.123999Z 2024-01-02T03:04:06.000000Z")
    }

    @Test func identifiersAreComparedExactly() throws {
        let records = ["123456Z", "123457Z", "1234560Z"].map { #"{"at": "2024-01-02T03:04:05.\#($0)"}"# }
        try night(records.joined(separator: "\n"), "--identifier", "at")
        #expect(try dates() == "2024-01-02T03:04:05.123456Z 2024-01-02T03:04:05.123457Z")
        // With digits cut off they would be those of other objects.
        let said = try night(#"{"at": "2024-01-02T03:04:05.1234567Z"}"#, code: 65)
        #expect(said.contains("every record was rejected"))
        let model = #"{"entities": {"e": {"identifier": ["at"], "attributes": {"at": {"type": "date"}}}}}"#
        let three = try directory.write(model, to: "three.json")
        try importer("migrate", directory.path("s"), "--model", three, "--allow-loss", code: 65)
    }
}
