import Foundation
import GRDB
import ImportModel
import TestSupport
import Testing

@testable import Importer

/// SQLite calls a table without row ids full, as it does a disk.
struct UsedUpRowIDsTests {
    @Test(arguments: ["", "CREATE TRIGGER t AFTER INSERT ON item BEGIN SELECT 1; END"])
    func areNotTakenForAFullDisk(trigger: String) throws {
        let job = try LibraryImport(LibraryImport.items(3))
        try DatabaseQueue(path: job.store).write { database in
            try database.execute(
                sql: """
                    CREATE TABLE item (key INTEGER PRIMARY KEY AUTOINCREMENT, id INTEGER, name TEXT);
                    INSERT INTO item VALUES (9223372036854775807, 0, 'last');
                    DELETE FROM item;
                    \(trigger)
                    """
            )
        }
        let model = """
            {"entities": {"item": {"records": "$[*]", "attributes": {"id": {"type": "integer64"}, "name": {"type": "string"}}}}}
            """
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
        let error = #expect(throws: ImportError.self) { _ = try job.pipeline(options).run() }
        #expect(error?.message.contains("item: its row ids are used up") == true, "\(String(describing: error))")
        #expect(try StoreContent.query(job.store, "SELECT count(*) FROM item") == "0")
    }
}
