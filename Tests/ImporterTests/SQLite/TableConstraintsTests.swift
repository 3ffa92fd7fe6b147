import GRDB
import ImportModel
import Importer
import Testing

@testable import ImportSQLite

/// What is known of a table's constraints from the statement that made it.
struct TableConstraintsTests {
    /// Comments may have quotes, and names and texts may look like constraints or comments.
    @Test(arguments: [
        (
            "(name TEXT, -- the item's name\n price INTEGER CHECK (price > 0), -- it's in cents\n note TEXT)", true,
            false
        ),
        ("(name TEXT /* it's */ COLLATE NOCASE, price INTEGER /* isn't **/)", false, true),
        ("(name TEXT, price INTEGER DEFAULT '--', note TEXT CHECK (note <> '--'))", true, false),
        ("(name TEXT, \"check /*\" INTEGER COLLATE NOCASE, [*/] TEXT)", false, true),
        ("(name TEXT, -- check\n \"checks\" INTEGER DEFAULT 'it''s a check' /* collate */)", false, false),
    ])
    func seesPastCommentsAndQuotes(_ columns: String, canRefuse: Bool, mayCollate: Bool) throws {
        let model = try ModelDescription(
            parsing: Array(
                "{\"entities\": {\"item\": {\"records\": \"$\", \"attributes\": {\"name\": {\"type\": \"string\"}}}}}"
                    .utf8
            )
        )
        try DatabaseQueue().inDatabase { database in
            try database.execute(sql: "CREATE TABLE item \(columns)")
            let constraints = try TableConstraints(of: model.entities[0], database)
            #expect(constraints.canRefuse == canRefuse)
            #expect(constraints.mayCollate == mayCollate)
        }
    }
}
