import Foundation
import TestSupport
import Testing

/// A store that is refused for its bookkeeping is left as it was, byte for byte: a store is data, never code.
struct RefusedStoreTests {
    @Test(arguments: [
        // It would run when what is recorded of files is put in order.
        "CREATE TRIGGER t BEFORE DELETE ON _import_file BEGIN DELETE FROM people; END",
        // It would be asked for ever which jobs there are.
        """
        DROP TABLE _import_job;
        CREATE VIEW _import_job AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
            SELECT id, 't' || id AS token, 'running' AS state FROM n
        """,
        // What its tables mean is not known.
        "UPDATE _import_meta SET value = 1000 WHERE key = 'format'",
    ])
    func isLeftAsItWas(change: String) throws {
        let directory = try TemporaryDirectory()
        let (source, store) = (directory.path("people.json"), directory.path("store.sqlite"))
        try Data("[{\"a\":1},{\"a\":2}]".utf8).write(to: URL(filePath: source))
        #expect(try runImporter("import", source, "--into", store).ending == .exit(0))
        let sql = """
            INSERT INTO _import_file (token, path, kind, state, is_made) VALUES ('x', '/nonexistent', 'chunks', 'left', 0);
            \(change);
            """
        try StoreContent.execute(store, sql)
        let before = try Data(contentsOf: URL(filePath: store))
        let other = directory.path("other.json")
        try Data("[{\"a\":3}]".utf8).write(to: URL(filePath: other))
        for arguments in [
            ["import", source, "--into", store], ["import", other, "--into", store], ["resume", store],
        ] {
            let refused = try run([Project.importer] + arguments)
            #expect([65, 73, 74].map { .exit($0) }.contains(refused.ending), "\(refused.ending): \(refused.errorText)")
            #expect(try Data(contentsOf: URL(filePath: store)) == before)
        }
    }
}
