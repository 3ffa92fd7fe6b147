import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportChanges
@testable import ImportPostgreSQL
@testable import ImportSources

@Suite(.enabled(if: PostgreSQLServer.isAvailable, "needs PostgreSQL"))
struct PGTablesTests {
    private let database: CopiedTables
    private var connection: PGConnection { database.connection }

    init() throws { database = try CopiedTables() }

    private func entity(
        _ attributes: [(String, AttributeType)],
        identifier: [String] = [],
        table: String = "thing"
    ) -> EntityDescription {
        EntityDescription(
            name: "Thing",
            table: table,
            identifier: identifier,
            attributes: attributes.map { AttributeDescription(name: $0.0, type: $0.1) }
        )
    }

    private func error(_ body: () throws -> Void) -> ImportError? {
        do {
            try body()
            return nil
        } catch {
            return error as? ImportError
        }
    }

    // MARK: Names

    @Test func tellsTablesFromOtherThings() throws {
        try database.query(
            "CREATE TABLE \"Plain\" (); CREATE TABLE parts (a integer) PARTITION BY HASH (a); "
                + "CREATE VIEW seen AS SELECT 1; CREATE SEQUENCE numbers; CREATE INDEX sorted ON parts (a); "
                + "CREATE TYPE mood AS ENUM ('x'); CREATE SCHEMA other; CREATE TABLE other.elsewhere ()"
        )
        func kind(_ name: String) throws -> PGTables.Kind? { try PGTables.kind(of: name, connection) }
        #expect(try kind("Plain") == .table && kind("parts") == .table)
        for name in ["seen", "numbers", "sorted", "mood"] { #expect(try kind(name) == .other, "\(name)") }
        for name in ["plain", "elsewhere", "pg_class", "nothing"] { #expect(try kind(name) == nil, "\(name)") }
    }

    @Test func refusesNamesThatNoTableCanHave() throws {
        try database.query("CREATE VIEW seen AS SELECT 1; CREATE TYPE mood AS ENUM ('x'); CREATE TABLE there ()")
        func error(_ names: String...) -> ImportError? {
            self.error { try PGTables.check(names, connection, label: "here") }
        }
        #expect(error("there", "new", "there") == nil)
        #expect(error("_Import_x")?.message == "the table name _Import_x is reserved")
        #expect(error("new", "seen")?.message == "here: has a view named seen already")
        #expect(error("mood")?.message == "here: has a type named mood already")
        #expect(error("seen")?.reason == .nameTaken)
        #expect(error("a\0b")?.reason == .nameInvalid && error("")?.reason == .nameInvalid)
        let long = String(repeating: "n", count: 80)
        #expect(error(long, long + "2") == nil)
        #expect(error(long, PGNames.fitting(long))?.reason == .nameTaken)
    }

    // MARK: Making

    @Test func makesATableOfEachType() throws {
        let made = EntityDescription(
            name: "Thing",
            table: "say \"hi\"",
            attributes: AttributeType.allCases.map { type in
                AttributeDescription(name: type.rawValue, type: type)
            } + [AttributeDescription(name: "ctid", type: .date, isWallClock: true)]
        )
        #expect(try database.prepare(made))
        let expected = [
            "string text", "integer16 smallint", "integer32 integer", "integer64 bigint", "float real",
            "double double precision", "decimal numeric", "boolean boolean", "date timestamp(3) with time zone",
            "uuid uuid",
            "uri text", "binary bytea", "bitfield bigint", "json json", "ctid_2 timestamp(3) without time zone",
        ]
        #expect(try database.columns(of: "\"say \"\"hi\"\"\"") == expected)
        #expect(try !PGTables.hasRows("say \"hi\"", connection))
        // Once more it fits.
        #expect(try !database.prepare(made))
        try database.query("INSERT INTO \"say \"\"hi\"\"\" DEFAULT VALUES")
        #expect(try PGTables.hasRows("say \"hi\"", connection))
    }

    @Test(.enabled(if: Cases.areAll, "one of all cases")) func makesTablesOfAsManyColumnsAsTheServerHolds() throws {
        func wide(_ count: Int, identifier: [String] = []) -> EntityDescription {
            entity((0..<count).map { ("a\($0)", .boolean) }, identifier: identifier)
        }
        #expect(error { try database.prepare(wide(1_601)) }?.reason == .tableUnsuitable)
        // Beside those that staged rows have of their own.
        #expect(error { try database.prepare(wide(1_573, identifier: ["a0"])) }?.reason == .tableUnsuitable)
        #expect(try database.prepare(wide(1_599)))
        #expect(try !database.prepare(wide(1_600)))
        try database.query("ALTER TABLE thing DROP COLUMN a1599")
        // What is dropped still counts.
        let error = error { try database.prepare(wide(1_600)) }
        #expect(error?.reason == .tableUnsuitable)
        #expect(error?.message.contains("has had 1600 columns") == true)
    }

    @Test func addsTheColumnsThatATableLacks() throws {
        try database.query("CREATE TABLE thing (a text, more integer); INSERT INTO thing VALUES ('x', 1)")
        #expect(try !database.prepare(entity([("new", .decimal), ("a", .string), ("say \"x\"", .uuid)])))
        #expect(try database.columns(of: "thing") == ["a text", "more integer", "new numeric", "say \"x\" uuid"])
        #expect(try database.query("SELECT * FROM thing") == [["x", "1", nil, nil]])
    }

    @Test(arguments: ["integer NOT NULL", "word", "integer PRIMARY KEY"])
    func refusesAColumnThatNothingGivesAValueFor(type: String) throws {
        try database.query("CREATE DOMAIN word AS text NOT NULL; CREATE TABLE thing (a text, code \(type))")
        let error = error { try database.prepare(entity([("a", .string), ("new", .string)])) }
        #expect(error?.reason == .tableUnsuitable)
        #expect(
            error?.message
                == "here: the column code of the table thing is NOT NULL without a default, and Thing has no "
                + "attribute for it: every row would be refused"
        )
        #expect(try database.columns(of: "thing").count == 2)
        // With an attribute for it, and where something gives it a value.
        let other = type == "word" ? AttributeType.string : .integer32
        #expect(try !database.prepare(entity([("a", .string), ("code", other)])))
        try database.query(
            "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.code := 1; RETURN NEW; END'"
        )
        try database.query("CREATE TRIGGER f AFTER INSERT ON thing FOR EACH ROW EXECUTE FUNCTION f()")
        #expect(self.error { try database.prepare(entity([("a", .string)])) }?.reason == .tableUnsuitable)
        try database.query("CREATE TRIGGER g BEFORE INSERT ON thing FOR EACH ROW EXECUTE FUNCTION f()")
        #expect(try !database.prepare(entity([("a", .string)])))
    }

    @Test func acceptsRequiredColumnsThatGetTheirValues() throws {
        try database.query(
            """
            CREATE DOMAIN word AS text NOT NULL DEFAULT 'x'; CREATE TABLE thing (a text, b serial, c word,
                d integer NOT NULL GENERATED ALWAYS AS IDENTITY, e integer NOT NULL DEFAULT 1,
                f integer NOT NULL GENERATED ALWAYS AS (length(a)) STORED)
            """
        )
        #expect(try !database.prepare(entity([("a", .string)])))
        try database.query("INSERT INTO thing (a) VALUES ('x')")
    }

    /// Records that are merged need no new row.
    @Test func acceptsRequiredColumnsOfObjectsThatAreThere() throws {
        try database.query("CREATE TABLE thing (a text, code integer NOT NULL)")
        let thing = entity([("a", .string), ("new", .string)], identifier: ["a"])
        #expect(error { try database.prepare(thing) }?.reason == .tableUnsuitable)
        try database.query("INSERT INTO thing VALUES ('x', 1)")
        #expect(try !database.prepare(thing))
    }

    @Test func acceptsColumnsThatTakeTheValues() throws {
        let columns: [(AttributeType, String)] = [
            (.string, "varchar(10)"), (.uri, "varchar"), (.decimal, "numeric"), (.date, "timestamptz"),
            (.date, "timestamptz(6)"), (.integer64, "bigint GENERATED ALWAYS AS IDENTITY"), (.integer32, "serial"),
            (.string, "word"), (.json, "json NOT NULL"),
        ]
        try database.query("CREATE DOMAIN word AS varchar(9)")
        for (type, column) in columns {
            try database.query("DROP TABLE IF EXISTS thing; CREATE TABLE thing (a \(column))")
            #expect(try !database.prepare(entity([("a", type)])), "\(column)")
        }
    }

    @Test func refusesColumnsThatDoNot() throws {
        let columns: [(AttributeType, String, String)] = [
            (.string, "char(10)", "text now and character(10) there"), (.string, "integer", "integer there"),
            (.integer16, "integer", "smallint now and integer there"), (.integer64, "numeric", "numeric there"),
            (.decimal, "numeric(10,2)", "numeric now and numeric(10,2) there"),
            (.json, "jsonb", "json now and jsonb there"),
            (.date, "timestamptz(0)", "timestamptz(3) now and timestamp(0) with time zone there"),
            (.date, "timestamp(3)", "timestamp(3) without time zone there"), (.uuid, "text", "uuid now and text there"),
            (.float, "double precision", "real now and double precision there"), (.string, "text[]", "text[] there"),
            (.string, "text GENERATED ALWAYS AS ('x') STORED", "is computed there"),
            (.decimal, "money2", "numeric(9,2) there"),
        ]
        try database.query("CREATE DOMAIN money2 AS numeric(9,2)")
        for (type, column, words) in columns {
            try database.query("DROP TABLE IF EXISTS thing; CREATE TABLE thing (a \(column))")
            let error = error { try database.prepare(entity([("a", type), ("new", .string)])) }
            #expect(error?.reason == .tableUnsuitable)
            #expect(error?.message.hasPrefix("here: Thing.a (column a of the table thing) is ") == true)
            #expect(error?.message.hasSuffix(words) == true, "\(error?.message ?? "")")
            #expect(error?.advice != nil)
            #expect(try database.columns(of: "thing").count == 1)
        }
    }

    @Test func refusesAColumnThatDiffersInCaseOnly() throws {
        try database.query("CREATE TABLE thing (Name text)")
        let error = error { try database.prepare(entity([("Name", .string)])) }
        #expect(error?.message.contains("is the column Name now and name there") == true)
        try database.query("ALTER TABLE thing ADD COLUMN \"Name\" text")
        #expect(try !database.prepare(entity([("Name", .string)])))
    }

    // MARK: Making again

    private func note(_ table: String, made: Bool, inserted: Int = 0) throws {
        try BookkeepingSchema.prepare(connection, label: "here")
        try database.query(
            """
            INSERT INTO _import_job (token, state, options, chunk_directory, host, fingerprint)
            VALUES (random()::text, 'done', '{}', '', '', '');
            INSERT INTO _import_entity (job, position, entity, table_name, made_table, was_empty)
            SELECT max(id), 0, 'Thing', '\(table)', \(made), true FROM _import_job;
            INSERT INTO _import_count (job, chunk, position, inserted)
            SELECT max(id), 0, 0, \(inserted) FROM _import_job
            """
        )
    }

    @Test func makesATableAgainThatAnImportHasMadeAndThatIsStillEmpty() throws {
        let first = entity([("a", .string), ("old", .string)], identifier: ["a"])
        #expect(try database.prepare(first))
        try database.query(PGTables.identifierIndex(of: first))
        try note("thing", made: true)
        #expect(try database.prepare(entity([("a", .integer16)])))
        #expect(try database.columns(of: "thing") == ["a smallint"])
    }

    @Test(
        arguments: [
            "INSERT INTO thing VALUES ('x')", "CREATE INDEX ON thing (a)", "GRANT SELECT ON thing TO PUBLIC",
            "CREATE VIEW seen AS SELECT * FROM thing", "ALTER TABLE thing ADD CHECK (a <> '')",
            "CREATE FUNCTION f(thing) RETURNS text LANGUAGE SQL AS 'SELECT $1.a'",
        ]
    )
    func keepsATableThatSomebodyHasUsed(_ use: String) throws {
        #expect(try database.prepare(entity([("a", .string)])))
        try note("thing", made: true)
        try database.query(use)
        #expect(error { try database.prepare(entity([("a", .integer16)])) }?.reason == .tableUnsuitable)
        #expect(try !database.prepare(entity([("a", .string), ("b", .string)])))
        #expect(try database.columns(of: "thing") == ["a text", "b text"])
    }

    @Test func keepsATableThatNoImportHasMadeOrThatHadRows() throws {
        #expect(try database.prepare(entity([("a", .string)])))
        #expect(try !database.prepare(entity([("a", .string)])))
        try note("thing", made: false)
        #expect(error { try database.prepare(entity([("a", .uuid)])) }?.reason == .tableUnsuitable)
        try note("thing", made: true, inserted: 3)
        #expect(error { try database.prepare(entity([("a", .uuid)])) }?.reason == .tableUnsuitable)
    }

    // MARK: Indexes

    private func indexes(of table: String) throws -> [String] {
        try database.query("SELECT indexdef FROM pg_indexes WHERE tablename = '\(table)' ORDER BY 1").compactMap {
            $0[0]
        }
    }

    @Test func makesIdentifiersUnique() throws {
        let thing = entity([("a", .string), ("b", .json)], identifier: ["b", "a"])
        try database.prepare(thing)
        for _ in 0..<2 { try PGTables.prepareIdentifier(of: thing, connection, label: "here") }
        let expected = ["CREATE UNIQUE INDEX thing_identifier ON public.thing USING btree (((b)::text), a)"]
        #expect(try indexes(of: "thing") == expected)
        try database.query("DROP INDEX thing_identifier; INSERT INTO thing VALUES ('x', '1'), ('x', '1')")
        let error = error { try PGTables.prepareIdentifier(of: thing, connection, label: "here") }
        #expect(error?.reason == .identifierNotUnique)
        #expect(error?.message == "here: rows of thing already have the same b, a")
    }

    @Test func makesIdentifiersUniqueWhereSomethingElseHasTheIndexsName() throws {
        let thing = entity([("a", .string)], identifier: ["a"])
        try database.prepare(thing)
        try database.query("CREATE VIEW thing_identifier AS SELECT 1")
        for _ in 0..<2 { try PGTables.prepareIdentifier(of: thing, connection, label: "here") }
        let expected = ["CREATE UNIQUE INDEX thing_identifier_2 ON public.thing USING btree (a)"]
        #expect(try indexes(of: "thing") == expected)
    }

    @Test func acceptsAKeyThatATableHas() throws {
        try database.query("CREATE TABLE thing (a text, b text, PRIMARY KEY (b, a))")
        try PGTables.prepareIdentifier(
            of: entity([("a", .string), ("b", .string)], identifier: ["a", "b"]),
            connection,
            label: "here"
        )
        #expect(try indexes(of: "thing").count == 1)
        // One over some of the rows, or on less, is none.
        try database.query("CREATE UNIQUE INDEX part ON thing (a) WHERE a > 'x'")
        try PGTables.prepareIdentifier(of: entity([("a", .string)], identifier: ["a"]), connection, label: "here")
        #expect(try indexes(of: "thing").count == 3)
    }

    @Test(arguments: [
        ("CREATE UNIQUE INDEX ON thing (b)", true), ("CREATE UNIQUE INDEX ON thing (a, b) WHERE b > 'x'", false),
        ("CREATE UNIQUE INDEX ON thing (lower(a))", true), ("CREATE INDEX ON thing (b)", false),
        ("CREATE UNIQUE INDEX ON thing (b) INCLUDE (a)", true), ("ALTER TABLE thing ADD CHECK (b > 'x')", false),
        ("ALTER TABLE thing ADD EXCLUDE (a WITH =)", true),
        ("ALTER TABLE thing ADD FOREIGN KEY (b) REFERENCES thing (a)", true),
        ("CREATE TABLE more (a text REFERENCES thing (a))", false),
    ])
    func knowsWhetherObjectsAreInEachOthersWay(_ sql: String, _ expected: Bool) throws {
        try database.query("CREATE TABLE thing (a text PRIMARY KEY, b text); \(sql)")
        let thing = entity([("a", .string), ("b", .string)], identifier: ["a"])
        #expect(try PGTables.hasRivals(thing, connection) == expected)
    }

    @Test func buildsTheIndexesThatAreWantedOnce() throws {
        var thing = entity([("a", .string), ("b", .integer32), ("c", .json), ("ctid", .uuid)])
        thing.indexes = [["a", "b"], ["c"]]
        try database.prepare(thing)
        try database.query("CREATE INDEX mine ON thing (b); CREATE TABLE thing_a ()")
        let wanted = StoreIndexes(wanted: [["b"], ["a"], ["a", "b"], ["ctid"], ["elsewhere"]])
        func build() throws -> [String] {
            try connection.transaction {
                try PGTables.buildIndexes(of: thing, wanted, connection).built
            }
        }
        #expect(try build() == ["thing_a_b", "thing_c", "thing_a_2", "thing_ctid"])
        #expect(try build() == [])
        let expected = [
            "CREATE INDEX mine ON public.thing USING btree (b)",
            "CREATE INDEX thing_a_2 ON public.thing USING btree (a)",
            "CREATE INDEX thing_a_b ON public.thing USING btree (a, b)",
            "CREATE INDEX thing_c ON public.thing USING btree (((c)::text))",
            "CREATE INDEX thing_ctid ON public.thing USING btree (ctid_2)",
        ]
        #expect(try indexes(of: "thing") == expected)
    }

    @Test func leavesOutAnIndexThatAValueIsTooLongFor() throws {
        let thing = entity([("a", .string), ("b", .string)])
        try database.prepare(thing)
        try database.query(
            "INSERT INTO thing SELECT string_agg(md5(n::text), ''), 'x' FROM generate_series(1, 300) AS n"
        )
        let built = try connection.transaction {
            try PGTables.buildIndexes(of: thing, StoreIndexes(wanted: [["a"], ["b"]]), connection)
        }
        #expect(built.built == ["thing_b"] && built.leftOut == ["a"] && built.there == ["b"])
    }
}
