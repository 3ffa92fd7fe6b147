import Foundation
import Importer
import TestSupport
import Testing

/// What `importer --version` says.
struct VersionTests {
    @Test func namesTheVersionTheCommitAndTheLibraries() throws {
        let result = try runImporter("--version")
        #expect(result.ending == .exit(0))
        #expect(result.errorText.isEmpty)
        let lines = result.outputText.split(separator: "\n", omittingEmptySubsequences: false)
        try #require(lines.count == 5)
        #expect(lines[0] == "importer \(ImporterVersion.text)")
        #expect(lines[1].wholeMatch(of: /revision (unknown|[0-9a-f]{40}(-dirty)?)/) != nil, "\(lines[1])")
        // As others have them, for they are the system's.
        #expect(lines[2] == "SQLite   \(try installedVersion("sqlite3"))")
        #expect(lines[3] == "yajl     \(try installedVersion("yajl"))")
        #expect(lines[4].isEmpty)
    }

    /// Before the parser is asked, and by it.
    @Test func saysTheSameWhereverTheOptionIs() throws {
        let first = try runImporter("--version").outputText
        #expect(try runImporter("status", "--version").outputText == first)
    }

    @Test func saysWhenItCannotBeWritten() throws {
        let result = try run(["/bin/sh", "-c", "'\(Project.importer)' --version > /dev/full"])
        #expect(result.ending == .exit(74))
        #expect(result.errorText.contains("cannot write to standard output"))
    }

    private func installedVersion(_ library: String) throws -> String {
        let result = try run(["/usr/bin/env", "pkg-config", "--modversion", library])
        return result.outputText.trimmingCharacters(in: .newlines)
    }
}
