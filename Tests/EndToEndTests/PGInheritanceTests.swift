import Foundation
import TestSupport
import Testing

/// Entities that inherit from one another are in a server's schema what they are in a SQLite store.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGInheritanceTests {
    private static let model = """
        {"entities": {
          "frame": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "shapes": {"entity": "shape", "toMany": true}, "cover": {"entity": "circle"},
            "marks": {"entity": "mark", "toMany": true}}},
          "shape": {"identifier": ["name"], "subentity": {"from": "kind", "values": {"C": "circle", "S": "square"}},
            "attributes": {"name": {"type": "string"}, "color": {"type": "string", "optional": true}}},
          "circle": {"parent": "shape", "attributes": {"radius": {"type": "double"}}},
          "square": {"parent": "shape", "attributes": {"side": {"type": "integer32", "default": 3}}, "relationships": {
            "within": {"entity": "shape", "toMany": true}}},
          "mark": {"abstract": true, "subentity": {"from": "kind", "values": {"D": "dot", "L": "line"}}, "attributes": {
            "x": {"type": "integer32", "optional": true}}},
          "dot": {"parent": "mark", "attributes": {}},
          "line": {"parent": "mark", "attributes": {"end": {"type": "integer32", "optional": true}}},
          "log": {"abstract": true, "subentity": {"from": "kind", "values": {"T": "text", "N": "number"}},
            "identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "on": {"type": "string", "optional": true}},
            "relationships": {"frame": {"entity": "frame"}}},
          "text": {"parent": "log", "attributes": {"text": {"type": "string"}}},
          "number": {"parent": "log", "attributes": {"number": {"type": "double", "optional": true}}}}}
        """

    private static let tables = ["frame", "shape", "frame_shapes", "square_within", "mark"]

    private static let frames = [
        #"{"id": 1, "shapes": [{"name": "a", "kind": "C", "radius": 1.5}, {"name": "b", "kind": "S"}, {"name": "c"}]}"#,
        // What does not say what it is, is what it was; of a circle it says the radius, too.
        #"{"id": 2, "shapes": [{"name": "a", "color": "red", "radius": 2}, {"name": "b", "side": 4, "within": ["a", "z"]}]}"#,
        // What is something else is a reject, and with it all that it says.
        #"{"id": 3, "shapes": [{"name": "a", "kind": "S", "side": 1}, {"name": "d", "kind": "C", "radius": 1}]}"#,
        #"{"id": 4, "cover": {"name": "b", "radius": 1}, "marks": [{"kind": "D", "x": 1}]}"#,
        #"{"id": 5, "shapes": [{"name": "d", "kind": "S"}, {"name": "c", "radius": 9}], "cover": "a"}"#,
        #"{"id": 6, "shapes": [{"name": "d", "kind": "C", "radius": 7}]}"#,
        // It lacks what a new circle needs, but not what a stored one does.
        #"{"id": 7, "cover": {"name": "e", "color": "blue"}}"#, #"{"id": 8, "cover": {"name": "a", "color": "blue"}}"#,
        #"{"id": 9, "shapes": [{"name": "e", "side": "no number"}, {"name": "e", "kind": "S"}]}"#,
        #"{"id": 1, "marks": [{"kind": "D", "x": 1}, {"kind": "L", "x": 2, "end": 3}, {"kind": "D"}]}"#,
        #"{"id": 1, "marks": [{"kind": "L", "x": 1, "end": 1}, {"kind": "L", "x": 2, "end": 3}]}"#,
        #"{"id": 10, "marks": [{"x": 1}]}"#,
    ]

    private static func files(_ records: [String], of entity: String) throws -> ImportFiles {
        try ImportFiles(records: [records], model: model, options: ["--entity", entity])
    }

    private static let small = ["--chunk-size", "150", "--workers", "2"]

    /// Of what entity an object of a shared table is, its first record says, wherever the others are.
    @Test func objectsAreWhatTheirFirstRecordSays() throws {
        let files = try Self.files(Self.frames, of: "frame")
        let database = try PGDatabase()
        let report = try database.imported(files, nil, Self.small)
        let same = try files.storeOfTheSame()
        #expect(report == same.report)
        for table in Self.tables { #expect(try database.difference(of: table, from: same.path).isEmpty, "\(table)") }
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        let codes = "SELECT ordinal, (errors::json->0->>'code') FROM _import_reject ORDER BY ordinal"
        #expect(
            try database.query(codes)
                == "3|wrongEntity\n4|wrongEntity\n6|wrongEntity\n7|missingValue\n9|wrongEntity\n12|abstractEntity"
        )
        let kinds = "SELECT entity, count(*) FROM shape GROUP BY 1 ORDER BY 1"
        #expect(try database.query(kinds) == "circle|1\nshape|1\nsquare|2")
        #expect(try database.isVerified())
    }

    /// So it is where records are left out, or rejects, for what is there: one that is left out makes no object anything.
    @Test(arguments: Cases.few(1, of: ["ignore", "error"])) func policiesDependOnWhatObjectsAre(_ policy: String) throws
    {
        let shapes = [
            #"{"name": "a", "kind": "S", "side": 1, "color": "red", "within": [{"name": "b", "kind": "C", "radius": 1}]}"#,
            #"{"name": "a", "kind": "C", "radius": 1}"#,
            #"{"name": "a", "within": [{"name": "c", "kind": "C", "radius": 2}]}"#,
            #"{"name": "c", "kind": "S", "color": "blue"}"#, #"{"name": "b", "radius": 3}"#,
            #"{"name": "d"}"#, #"{"name": "d", "kind": "S"}"#,
        ]
        let sources = [shapes, shapes + [#"{"name": "e"}"#]]
        let files = try ImportFiles(records: sources, model: Self.model, options: ["--max-errors", "none"])
        let database = try PGDatabase()
        for source in files.sources {
            let options = ["--entity", "shape", "--on-conflict", policy]
            let report = try database.imported(files, [source], options + Self.small)
            let same = try files.storeOfTheSame([source], options)
            #expect(report == same.report)
            for table in Self.tables {
                #expect(try database.difference(of: table, from: same.path).isEmpty, "\(table)")
            }
            #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
            #expect(try database.isVerified())
        }
    }

    /// Where nothing refers to what an entity inherits from, each has a table of its own with all that it inherits.
    @Test func othersHaveTablesOfTheirOwn() throws {
        let files = try Self.files(
            [
                #"{"id": 1, "kind": "T", "text": "a", "frame": 1}"#,
                #"{"id": 1, "kind": "N", "number": 2.5, "frame": {"id": 2}}"#,
                #"{"id": 2, "kind": "T"}"#, #"{"id": 1, "kind": "T", "on": "x"}"#, #"{"id": 3}"#,
            ],
            of: "log"
        )
        let database = try PGDatabase()
        let report = try database.imported(files, nil, Self.small)
        let same = try files.storeOfTheSame()
        #expect(report == same.report)
        for table in ["text", "number", "frame"] {
            #expect(try database.difference(of: table, from: same.path).isEmpty, "\(table)")
        }
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        let keys = "SELECT conname, convalidated FROM pg_constraint WHERE conname ~ '^(text|number)_frame' ORDER BY 1"
        #expect(try database.query(keys) == "number_frame_id_fkey|t\ntext_frame_id_fkey|f")
        #expect(try database.query("SELECT to_regclass('log') IS NULL") == "t")
        for arguments in [["text"], ["number", "--where", "number > 1", "--columns", "id,number"]] {
            let expected = try run([Project.importer, "fetch", same.path] + arguments)
            let found = try database.importer(["fetch", database.url] + arguments)
            #expect(
                found.ending == .exit(0) && found.outputText == expected.outputText,
                "\(arguments) \(found.errorText)"
            )
        }
        #expect(try database.isVerified())
    }

    /// Entities may inherit where none relates to another.
    @Test func mayBeAllThereIs() throws {
        let model = """
            {"entities": {
              "log": {"abstract": true, "subentity": {"from": "kind", "values": {"T": "text", "N": "number"}},
                "identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "on": {"type": "string", "optional": true}}},
              "text": {"parent": "log", "attributes": {"text": {"type": "string"}}},
              "number": {"parent": "log", "attributes": {"number": {"type": "double", "optional": true}}}}}
            """
        let records = [
            #"{"id": 1, "kind": "T", "text": "a"}"#, #"{"id": 1, "kind": "T", "on": "x"}"#, #"{"id": 2, "kind": "N"}"#,
            #"{"id": 3}"#,
        ]
        let files = try ImportFiles(records: [records], model: model, options: ["--entity", "log"])
        let database = try PGDatabase()
        let report = try database.imported(files, nil, Self.small)
        let same = try files.storeOfTheSame()
        #expect(report == same.report)
        for table in ["text", "number"] { #expect(try database.difference(of: table, from: same.path).isEmpty) }
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        #expect(try database.isVerified())
    }

    /// Where others have made something that may refuse rows, records are taken one after the other.
    @Test func tablesMayRefuse() throws {
        let files = try Self.files(Array(Self.frames.prefix(1)), of: "frame")
        let database = try PGDatabase()
        try database.imported(files)
        try database.execute("ALTER TABLE shape ADD CHECK (color <> 'black')")
        try database.imported(files, nil, ["--again"])
        _ = try files.storeOfTheSame()
        let same = try files.storeOfTheSame(nil, ["--again"])
        #expect(try database.difference(of: "shape", from: same.path).isEmpty)
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        #expect(try database.isVerified())
    }

    /// An entity's records are its own rows of a table that it shares, with those of what inherits from it.
    @Test func fetchReadsTheRowsOfAnEntity() throws {
        let files = try Self.files(Self.frames, of: "frame")
        let database = try PGDatabase()
        try database.imported(files)
        let store = try files.storeOfTheSame().path
        for options in [["shape"], ["circle"], ["square", "--where", "side > 3 or side < 0"], ["circle", "--count"]] {
            let options = options + ["--format", "ndjson"].prefix(options.contains("--count") ? 0 : 2)
            let expected = try run([Project.importer, "fetch", store] + options)
            let found = try database.importer(["fetch", database.url] + options)
            #expect(
                found.ending == .exit(0) && found.outputText == expected.outputText,
                "\(options) \(found.errorText)"
            )
        }
        let expected = try run([Project.importer, "fetch", store])
        #expect(try database.importer(["fetch", database.url]).outputText == expected.outputText)
    }

    /// What is found out of objects while a job settles is as if it had not been, where that is killed meanwhile.
    @Test(arguments: Cases.few(1, of: ["_import_unresolved", "_import_reject"]))
    func findsThemAgainAfterAKill(while table: String) throws {
        let (killed, whole) = (try PGDatabase(), try PGDatabase())
        let first = try Self.files(Array(Self.frames.prefix(1)), of: "frame")
        // Workers would find the reject of the last one by themselves.
        let rest = try Self.files(Array(Self.frames.dropFirst().dropLast()), of: "frame")
        for database in [killed, whole] { try database.imported(first) }
        try whole.imported(rest, nil, Self.small)
        let holder = try killed.holdBack(table)
        let program = try killed.start(killed.command(rest, nil, Self.small))
        try wait(for: table, instead: { program.account }) { try killed.heldBack(table) > 0 ? true : nil }
        #expect(try killed.chunks("sealed") == 0)
        program.signal(SIGKILL)
        program.wait()
        holder.end()
        try killed.forgetDeadProcesses()
        #expect(try killed.importer(["resume", killed.url]).ending == .exit(0))
        for table in Self.tables { #expect(try killed.rows(of: table) == whole.rows(of: table), "\(table)") }
        #expect(try killed.bookkeeping() == whole.bookkeeping())
        #expect(try killed.isVerified())
    }
}
