import TestSupport
import Testing

struct TreeNoticeTests {
    private static let tree = """
        {"tree":{"name":"root","kids":[{"name":"a","kids":[{"name":"b","kids":[{"name":"c"}]},{"name":"d"}]}]}}
        """

    @Test func isSaidWithTheLevelsThatCouldBeTaken() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.tree, to: "tree.json")
        let store = directory.path("store.sqlite")
        let found = try runImporter("import", source, "--into", store)
        #expect(found.ending == .exit(0), "\(found.errorText)")
        let errors = found.errorText
        #expect(errors.contains("records at $.tree.kids[*] hold 3 objects of the same shape"), "\(errors)")
        #expect(errors.contains("--records '$.tree.kids[*].kids[*]'   (2 objects)"), "\(errors)")
        #expect(try StoreContent.rowCount(store) == 1)

        // Where a record path is given, each level may be meant, and nothing is said.
        let asked = try runImporter(
            "import",
            source,
            "--into",
            directory.path("asked.sqlite"),
            "--records",
            "$.tree.kids[*].kids[*]"
        )
        #expect(asked.ending == .exit(0), "\(asked.errorText)")
        #expect(!asked.errorText.contains("same shape"))
        #expect(try StoreContent.rowCount(directory.path("asked.sqlite")) == 2)
    }
}
