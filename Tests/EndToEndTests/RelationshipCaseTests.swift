import Foundation
import TestSupport
import Testing

/// Where the cases are.
private enum RelationshipCases {
    static let folder = SharedData.directory.deletingLastPathComponent().appending(path: "cases/relationships")

    static var arePresent: Bool { FileManager.default.fileExists(atPath: folder.path) }
}

/// What the tests of Core Data import libraries assert, compared by a checker of their own.
@Suite(.enabled(if: RelationshipCases.arePresent, "the shared cases are not there"))
struct RelationshipCaseTests {
    /// Cases that come out otherwise, and why.
    private static let others = [
        // Every record is a reject, as the cases expect, and that ends with 65; they expect 0.
        "sync-parent-without-id", "mr-testAbstractToOneRelationship", "groot-roots-from-ids",
        // 702377 is no integer16, so that its records are rejects.
        "sync-ordered-disjoint",
    ]

    @Test func comeOutAsTheLibrariesHaveThem() throws {
        let checker = RelationshipCases.folder.appending(path: "check.py").path
        let result = try run(["python3", "-B", checker, "--importer", Project.importer, "--schema"])
        let lines = result.outputText.split(separator: "\n")
        #expect(lines.count > 60, "\(result.errorText)")
        for line in lines.dropLast() where !line.hasSuffix(": ok") {
            let isOther = Self.others.contains { line.hasPrefix("\($0): ") }
            #expect(isOther || Self.hasOnlyPrimaryKeys(line), "\(line)")
        }
    }

    /// The checker looks for a unique index on each identifier, which is the table's primary key.
    private static func hasOnlyPrimaryKeys(_ line: Substring) -> Bool {
        guard let complaints = line.firstRange(of: ": wrong: ").map({ line[$0.upperBound...] }) else { return false }
        let texts = complaints.components(separatedBy: "; ")
        func tables(_ complaint: String) -> [String] {
            texts.compactMap { text in text.firstRange(of: complaint).map { String(text[..<$0.lowerBound]) } }
        }
        let indexes = tables(": no unique index on [")
        return texts.count == 2 * indexes.count && tables(": primary key is not []") == indexes
    }
}
