import Foundation
import TestSupport
import Testing

/// Where one record is taken after the other, what others have made on the tables stays as it is, and what a server cannot have is
/// what it is anywhere else.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGSerialTableTests {
    /// A database with people and books.
    private static func filled() throws -> PGDatabase {
        let files = try PGSerialTests.files()
        let database = try PGDatabase()
        for source in files.sources {
            let entity = source == files.sources[0] ? "person" : "book"
            try database.imported(files, [source], ["--entity", entity, "--max-errors", "none"])
        }
        return database
    }

    /// One more source, of books.
    private static func books(_ records: [String]) throws -> ImportFiles {
        try ImportFiles(records: [records], model: PGSerialTests.model(), options: ["--entity", "book"])
    }

    // MARK: U+0000

    /// A text with U+0000 is not cut off there: it has U+FFFD, in an identifier, too, which then is that of the same object again.
    @Test func textsWithNULHaveAnotherCharacter() throws {
        let database = try Self.filled()
        let records = [
            #"{"id": "q\u0000r", "author": {"id": 8, "name": "v\u0000\u0000w"}, "notes": ["\u0000"]}"#,
            #"{"id": "q\ufffdr", "author": "v\u0000\ufffdw", "used": true}"#,
        ]
        let files = try Self.books(records)
        let first = try database.imported(files, nil, ["--nul", "replace"])
        #expect(first.counts.inserted == 1 && first.counts.updated == 1 && first.counts.rejected == 0, "\(first)")
        let books = "SELECT id, author_id, used FROM book WHERE id ~ 'q'"
        #expect(try database.query(books) == "q\u{FFFD}r|8|t")
        #expect(try database.query("SELECT name FROM person WHERE id = 8") == "v\u{FFFD}\u{FFFD}w")
        #expect(try database.query("SELECT text FROM note WHERE book_id ~ 'q'") == "\u{FFFD}")
        let again = try database.imported(files, nil, ["--nul", "replace", "--again"])
        #expect(again.counts.inserted == 0 && again.counts.rejected == 0, "\(again)")
        #expect(try database.query(books) == "q\u{FFFD}r|8|t")
        let kinds = "SELECT DISTINCT entity, attribute, kind FROM _import_ledger WHERE job = 3 ORDER BY 1, 2"
        #expect(try database.query(kinds).contains("person|name|nulReplaced"))
        #expect(try database.isVerified())
    }

    /// Or it is null, if that is asked for.
    @Test func textsWithNULAreNull() throws {
        let database = try Self.filled()
        let records = [
            #"{"id": "q", "author": {"id": 8, "name": "v\u0000w"}}"#, #"{"id": "r\u0000", "author": "Ada"}"#,
        ]
        let report = try database.imported(Self.books(records), nil, ["--on-error", "null", "--max-errors", "none"])
        #expect(report.counts.inserted == 1 && report.counts.rejected == 1, "\(report)")
        #expect(try database.query("SELECT id, name FROM person WHERE id = 8") == "8|")
        #expect(try database.query("SELECT id FROM book WHERE id >= 'q'") == "q")
        #expect(try database.isVerified())
    }

    // MARK: What others have made

    /// Notes a column of each row for which a trigger runs, in a table `seen`.
    private static func noteRows(_ trigger: String, _ column: String, _ database: PGDatabase) throws {
        try database.execute(
            """
            CREATE TABLE seen (id text);
            CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO seen VALUES (NEW.\(column)); RETURN NULL; END $$;
            \(trigger) EXECUTE FUNCTION see()
            """
        )
    }

    /// Triggers that are to run at the end do not keep foreign keys from being made again.
    @Test func deferredTriggersRun() throws {
        let database = try Self.filled()
        try Self.noteRows(
            """
            CREATE CONSTRAINT TRIGGER late AFTER INSERT OR UPDATE ON note DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW
            """,
            "text",
            database
        )
        try database.execute(
            """
            ALTER TABLE note ADD CONSTRAINT own FOREIGN KEY (book_id) REFERENCES book (id) ON DELETE CASCADE DEFERRABLE;
            COMMENT ON CONSTRAINT own ON note IS 'it''s mine'
            """
        )
        let key = "SELECT pg_get_constraintdef(oid), obj_description(oid) FROM pg_constraint WHERE conname = 'own'"
        let before = try database.query(key)
        try database.imported(Self.books([#"{"id": "a", "notes": ["new"]}"#]))
        #expect(try database.query("SELECT id FROM seen") == "new")
        #expect(try database.query(key) == before)
        #expect(before.hasSuffix("|it's mine"))
        #expect(try database.isVerified())
    }

    /// A trigger of a column runs where that has changed.
    @Test func columnsThatStayAreNotWritten() throws {
        let database = try Self.filled()
        try Self.noteRows("CREATE TRIGGER priced AFTER UPDATE OF price ON book FOR EACH ROW", "id", database)
        try database.imported(Self.books([#"{"id": "a", "author": "Zoe"}"#]))
        #expect(try database.query("SELECT author_id FROM book WHERE id = 'a'") == "4")
        #expect(try database.query("SELECT count(*) FROM seen") == "0")
        try database.imported(Self.books([#"{"id": "c", "price": 3}"#]))
        #expect(try database.query("SELECT id FROM seen") == "c")
    }

    /// Rows of tables that inherit from one cannot be told apart from its own.
    @Test func aTableWithHeirsIsRefused() throws {
        let database = try Self.filled()
        try database.execute("CREATE TABLE older () INHERITS (note); INSERT INTO older SELECT * FROM ONLY note")
        let files = try Self.books([#"{"id": "a", "notes": ["new"]}"#])
        let refused = try database.importer(database.command(files))
        #expect(refused.ending == .exit(65), "\(refused.errorText)")
        #expect(refused.errorText.contains("the table note has tables that inherit from it"), "\(refused.errorText)")
        #expect(try database.query("SELECT count(*) FROM note WHERE text = 'new'") == "0")
        try database.execute("DROP TABLE older")
        let resumed = try database.importer(["resume", database.url])
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        #expect(try database.query("SELECT text FROM note WHERE book_id = 'a'") == "new")
    }

    /// What only one row may have keeps its name and all else, and is not in the way of partners that change.
    @Test(arguments: Cases.few(1, of: [#", "owner": "local""#, ""]))
    func uniqueConstraintsOfOthersStay(keys: String) throws {
        let model = """
            {"entities": {
              "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"desk": {"entity": "desk", "inverse": "owner"}}},
              "desk": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"owner": {"entity": "person", "inverse": "desk"}, "near": {"entity": "desk"\(keys)}}}}}
            """
        let records = [#"{"id": 1, "desk": {"id": 7}}"#, #"{"id": 2, "desk": {"id": 8}}"#]
        let changed = [#"{"id": 2, "desk": 7}"#, #"{"id": 1, "desk": 8}"#, #"{"id": 3, "desk": 9}"#]
        let files = try ImportFiles(records: [records, changed], model: model, options: ["--entity", "person"])
        let database = try PGDatabase()
        try database.imported(files, [files.sources[0]])
        try database.execute(
            """
            ALTER TABLE person ADD UNIQUE (desk_id), ADD CONSTRAINT again UNIQUE (desk_id) INCLUDE (id) DEFERRABLE;
            COMMENT ON CONSTRAINT person_desk_id_key ON person IS 'one';
            CREATE UNIQUE INDEX person_desk_3x ON person (desk_id DESC) INCLUDE (id) WITH (fillfactor = 50);
            COMMENT ON INDEX person_desk_3x IS 'it''s another';
            ALTER TABLE person CLUSTER ON person_desk_3x;
            CREATE UNIQUE INDEX person_desk_4 ON person (desk_id) WHERE desk_id > 0
            """
        )
        let made = """
            SELECT pg_get_indexdef(indexrelid), indisclustered, obj_description(indexrelid), pg_get_constraintdef(k.oid),
                obj_description(k.oid) FROM pg_index LEFT JOIN pg_constraint AS k ON conindid = indexrelid AND contype = 'u'
            WHERE indrelid = 'person'::regclass AND indexrelid::regclass::text <> 'person_desk' ORDER BY 1
            """
        let before = try database.query(made)
        let report = try database.imported(files, [files.sources[1]])
        #expect(report.counts.rejected == 0, "\(report)")
        #expect(try database.query("SELECT * FROM person ORDER BY 1") == "1|8\n2|7\n3|9")
        #expect(try database.query(made) == before)
        #expect(try database.isVerified())
    }

    /// A foreign key of others that does not hold of all rows still holds of those that come, and one outside keeps its index.
    @Test(arguments: Cases.few(1, of: [#", "owner": "local""#, ""]))
    func foreignKeysOfOthersHold(keys: String) throws {
        let model = """
            {"entities": {
              "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"desk": {"entity": "desk", "inverse": "owner", "unresolved": "keep"}}},
              "desk": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"owner": {"entity": "person", "inverse": "desk"}, "near": {"entity": "desk"\(keys)}}}}}
            """
        let first = [#"{"id": 1, "desk": {"id": 7}}"#, #"{"id": 2, "desk": 70}"#]
        let more = [#"{"id": 3, "desk": 80}"#, #"{"id": 2, "desk": 70}"#, #"{"id": 4, "desk": {"id": 8}}"#]
        let files = try ImportFiles(records: [first, more], model: model, options: ["--entity", "person"])
        let database = try PGDatabase()
        try database.imported(files, [files.sources[0]])
        try database.execute(
            """
            ALTER TABLE person ADD CONSTRAINT own FOREIGN KEY (desk_id) REFERENCES desk (id) NOT VALID;
            CREATE TABLE seat (desk bigint REFERENCES person (desk_id)); INSERT INTO seat VALUES (7)
            """
        )
        let key = "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'own'"
        let before = try database.query(key)
        let report = try database.imported(files, [files.sources[1]], ["--max-errors", "none"])
        #expect(report.counts.rejected == 1 && report.counts.inserted == 1, "\(report)")
        #expect(try database.query("SELECT * FROM person ORDER BY 1") == "1|7\n2|70\n4|8")
        #expect(try database.query("SELECT ordinal FROM _import_reject") == "1")
        #expect(try database.query(key) == before)
        #expect(try database.isVerified())
    }

    /// The same of places in lists.
    @Test func uniqueConstraintsOnPlacesStay() throws {
        let database = try Self.filled()
        try database.execute("ALTER TABLE note ADD UNIQUE (book_id, book_position)")
        let name = "SELECT conname FROM pg_constraint WHERE conrelid = 'note'::regclass AND contype = 'u'"
        let before = try database.query(name)
        let report = try database.imported(Self.books([#"{"id": "a", "notes": ["w", "x", "y", "v"]}"#]))
        #expect(report.counts.rejected == 0, "\(report)")
        let notes = "SELECT string_agg(text, ' ' ORDER BY book_position) FROM note WHERE book_id = 'a'"
        #expect(try database.query(notes) == "w x y v")
        #expect(try database.query(name) == before && !before.isEmpty)
    }

    // MARK: The temporary folder

    /// What a killed process has left of the tables goes when its import is restarted.
    @Test(arguments: Cases.few(1, of: [["resume"], ["--restart"]]))
    func nothingStaysInTheTemporaryFolder(how: [String]) throws {
        let database = try Self.filled()
        let files = try Self.books([#"{"id": "a", "notes": ["new"]}"#])
        let folder = files.directory.path("tmp")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let environment = ["TMPDIR": folder]
        let reader = database.server.session(with: database.url)
        try reader.query("BEGIN; SELECT FROM note")
        let program = try database.start(database.command(files), environment: environment)
        try wait(for: "the writing back", instead: { program.account }) {
            try database.heldBack("note") > 0 ? true : nil
        }
        program.signal(SIGKILL)
        program.wait()
        reader.end()
        try database.forgetDeadProcesses()
        #expect(files.directory.names(in: "tmp").count == 1)
        let command = how == ["resume"] ? ["resume", database.url] : database.command(files, nil, how)
        let result = try database.importer(command, environment: environment)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(files.directory.names(in: "tmp").isEmpty)
        #expect(try database.query("SELECT text FROM note WHERE book_id = 'a'") == "new")
        #expect(try database.isVerified())
    }

    /// A process that hangs, and is replaced by another one on the same host, leaves the folder of that alone when it goes on.
    @Test func aReplacedProcessLeavesTheNextOneItsFolder() throws {
        let database = try Self.filled()
        let files = try Self.books([#"{"id": "a", "notes": ["new"]}"#])
        let folder = files.directory.path("tmp")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let environment = ["TMPDIR": folder]
        let reader = database.server.session(with: database.url)
        try reader.query("BEGIN; SELECT FROM note")
        let first = try database.start(database.command(files, nil, ["--reconnect", "0"]), environment: environment)
        try wait(for: "the writing back", instead: { first.account }) {
            try database.heldBack("note") > 0 ? true : nil
        }
        #expect(first.suspend())
        try database.execute(
            "SELECT pg_terminate_backend(pid, 600000) FROM pg_locks WHERE relation = 'note'::regclass AND NOT granted"
        )
        let second = try database.start(["resume", database.url], environment: environment)
        try wait(for: "the writing back", instead: { second.account }) {
            try database.heldBack("note") > 0 ? true : nil
        }
        let names = files.directory.names(in: "tmp")
        first.resume()
        #expect(first.wait().ending == .exit(69), "\(first.account)")
        #expect(names.count == 1 && files.directory.names(in: "tmp") == names)
        reader.end()
        #expect(second.wait().ending == .exit(0), "\(second.account)")
        #expect(files.directory.names(in: "tmp").isEmpty)
        #expect(try database.query("SELECT text FROM note WHERE book_id = 'a'") == "new")
        #expect(try database.isVerified())
    }
}
