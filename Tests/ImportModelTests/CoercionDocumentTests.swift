import Foundation
import TestSupport
import Testing

@testable import ImportModel

/// The documentation's coercion tables are what the code does.
///
/// With `IMPORTER_WRITE_DOCUMENTATION=1` in the environment the page is written again.
struct CoercionDocumentTests {
    private static let page = Project.root.appending(path: "Sources/Importer/Importer.docc/Coercion.md")
    private static let begin = "<!-- begin: written by CoercionDocumentTests -->\n"
    private static let end = "<!-- end -->\n"

    /// Values of each kind, at and past the limits of the types.
    private static let samples: [(kind: JSONKind, values: [String])] = [
        (.boolean, ["true", "false"]),
        (
            .number,
            [
                "0", "1", "3.0", "3e2", "0.1", "-0.10", "32767", "32768", "2147483647", "2147483648",
                "9223372036854775807",
                "9223372036854775808", "16777217", "9007199254740993", "1e39", "1e-60", "1e-999", "1e999",
                "0.12345678901234567890123",
            ]
        ),
        (
            .string,
            [
                "", "12", " 12 ", "0012", "12abc", "3.0", "-0.10", "yes", "TRUE", "2014-10-17",
                "2014-10-17T02:54:11.4285+02:00",
                "2016-12-31T23:59:60Z", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
                "{F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6}",
                "https://example.org/?q=a%20b", "Zm9v", "Zm9vYg==", "-_8",
            ].map { JSONValue.string($0).serialized() }
        ),
        (.object, ["{}", #"{"share": true}"#, #"{ "group": {"edit": 1} }"#, #"{"other": true}"#]),
        (.array, ["[]", "[ 1 ]"]),
    ]

    private static func attribute(_ type: AttributeType) -> AttributeDescription {
        let bits = [AttributeDescription.Bit(name: "share", position: 0), .init(name: "group.edit", position: 1)]
        return AttributeDescription(name: "a", type: type, bits: type == .bitfield ? bits : [])
    }

    private static func tables() throws -> String {
        var text = "## From kind to type\n\n"
        text += "| to \\ from | " + samples.map(\.kind.name).joined(separator: " | ") + " |\n"
        text += "|---" + samples.map { _ in "|---" }.joined() + "|\n"
        for type in AttributeType.allCases {
            let cells = try samples.map { try summary($0.values, as: type) }
            text += "| `\(type.rawValue)` | " + cells.joined(separator: " | ") + " |\n"
        }
        for type in AttributeType.allCases {
            text += "\n### \(type.rawValue)\n\n| value | stored as | counted |\n|---|---|---|\n"
            for (_, values) in samples {
                for value in values {
                    let coerced = try coerce(value, to: attribute(type))
                    if coerced.error?.code == .wrongKind { continue }
                    let counted = coerced.notes.ledgerKinds.map { "`\($0.rawValue)`" }.joined(separator: ", ")
                    text += "| `\(value)` | \(stored(coerced)) | \(counted) |\n"
                }
            }
        }
        return text + "\n"
    }

    private static func summary(_ values: [String], as type: AttributeType) throws -> String {
        let results = try values.map { try coerce($0, to: attribute(type)) }
        let taken = results.filter { $0.error == nil }.count
        if taken == results.count { return "all" }
        return taken > 0 ? "some" : "error"
    }

    private static func stored(_ coerced: Coerced) -> String {
        switch coerced.outcome {
        case .null: "NULL"
        case .integer(let value): "INTEGER `\(value)`"
        case .real(let value): "REAL `\(value)`"
        case .text(""): "TEXT, empty"
        case .text(let text): "TEXT `\(text)`"
        case .blob(let bytes): "BLOB `x'\(bytes.map { String(format: "%02x", $0) }.joined())'`"
        case .error(let code):
            "*error:* `\(code.rawValue)`"
                + (coerced.error?.path.isEmpty == false ? " at `\(coerced.error?.path ?? "")`" : "")
        }
    }

    @Test func pageHasTheTablesOfTheCode() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let start = try #require(page.firstRange(of: Self.begin)).upperBound
        let end = try #require(page.firstRange(of: Self.end)).lowerBound
        let tables = try Self.tables()
        if ProcessInfo.processInfo.environment["IMPORTER_WRITE_DOCUMENTATION"] == "1" {
            try (page[..<start] + tables + page[end...]).write(to: Self.page, atomically: true, encoding: .utf8)
            return
        }
        #expect(String(page[start..<end]) == tables, "Write it again with IMPORTER_WRITE_DOCUMENTATION=1.")
    }

    @Test func pageNamesEveryKeyTypeFormatAndTransformer() throws {
        let page = try String(contentsOf: Self.page, encoding: .utf8)
        let words =
            AttributeKey.allCases.filter { ![.type, .from, .column, .renamingIdentifier, .userInfo].contains($0) }.map(
                \.rawValue
            )
            + AttributeType.allCases.map(\.rawValue) + DateFormat.keywords + TransformerRegistry.standard.names
            + BinaryFormat.names + StorageForm.allCases.map(\.rawValue)
        for word in words { #expect(page.contains("`\(word)`"), "\(word)") }
        for kind in LedgerKind.allCases { #expect(page.contains("`\(kind.rawValue)`"), "\(kind)") }
    }
}
