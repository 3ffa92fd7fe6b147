import Foundation
import ImportEngine
import ImportModel
import ImportSources
import TestSupport
import Testing

@testable import Importer

/// Plain JSON that looks like what other programs write is taken as it is.
struct NotTakenForATableTests {
    private func columns(_ text: String, _ name: String = "t.json") throws -> String {
        let directory = try TemporaryDirectory()
        let source = try directory.write(text, to: name)
        let store = directory.path("s.sqlite")
        _ = try ImportPipeline(sources: [source], into: store, job: JobOptions(), run: RunOptions()).run()
        return try StoreContent.query(
            store,
            """
            SELECT group_concat(m.name || ':' || (SELECT group_concat(name) FROM pragma_table_info(m.name)), ' ')
            FROM sqlite_master AS m WHERE type = 'table' AND name NOT LIKE '\\_import%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'
            """
        )
    }

    @Test(arguments: [
        // Lists that are of one length by chance.
        (#"{"version":2,"rules":{"allow":["a"],"deny":["b"]}}"#, "t:version,rules_allow,rules_deny"),
        (#"{"id":1,"samples":{"t":[1,2],"v":[4,5]}}"#, "t:id,samples_t,samples_v"),
        // Columns, one of which is called as the keys of rows are.
        (#"{"key":{"2021":1,"2022":2,"2023":3},"b":{"2021":3,"2022":4,"2023":5}}"#, "t:key_2,key,b"),
        // Objects by name, or by number, whose members have names.
        (#"{"ann":{"home":{"zip":"1"},"work":{"zip":"2"}},"bo":{"home":{"zip":"3"}}}"#, "t:key,home_zip,work_zip"),
        (#"{"1":{"2":{"n":1},"3":{"n":2}},"2":{"2":{"n":3},"3":{"n":4}}}"#, "t:key,2_n,3_n"),
        // A record that lists columns, and has no rows; lists of texts beside an empty one.
        (#"{"id":1,"columns":["a","b"],"rows":[]}"#, "t:id,columns,rows"),
        (#"{"tags":["a","b"],"items":[]}"#, "t:tags,items"),
        // One box in a record, and one record.
        (#"{"tags":["a"],"n":1}"#, "t:tags,n"),
        (#"[{"a":["x"],"b":["y"]}]"#, "t:a,b"),
    ])
    func aDocumentIsReadAsItIs(text: String, expected: String) throws { #expect(try columns(text) == expected) }

    /// Objects beside an array of arrays are not taken for the names of its columns: which are the records is asked.
    @Test(arguments: [
        #"{"users":[{"id":1,"name":"a","age":5},{"id":2,"name":"b","age":6}],"edges":[[1,2],[2,1]]}"#,
        #"{"players":[{"id":1,"name":"a"},{"id":2,"name":"b"}],"board":[[0,1],[1,0]]}"#,
        #"{"users":[{"id":1,"type":"x"},{"id":2,"type":"y"}],"edges":[[1,2],[2,1]]}"#,
        #"{"objects":{"c":{"geometries":[{"type":"Polygon","id":"a"},{"type":"Polygon","id":"b"}]}},"arcs":[[0,1],[2,3]]}"#,
    ])
    func recordsBesideArraysAreAskedFor(text: String) throws {
        let error = #expect(throws: ImportError.self) { try columns(text) }
        #expect(error?.code == .usage)
    }

    @Test(arguments: [
        // Events that are called as Elasticsearch's actions.
        ("{\"create\":{\"user\":\"a\"}}\n{\"create\":{\"user\":\"b\"}}\n", "t:create_user"),
        ("{\"delete\":{\"id\":1}}\n{\"delete\":{\"id\":2}}\n", "t:delete_id"),
        ("{\"update\":{\"_id\":1}}\n{\"update\":{\"_id\":2}}\n", "t:update__id"),
        // One list of one is no box, nor one object with a key of DynamoDB's a type.
        ("{\"tags\":[\"a\"]}\n{\"tags\":[\"b\"]}\n", "t:tags"),
        ("{\"k\":{\"S\":\"a\"}}\n{\"k\":{\"S\":\"b\"}}\n", "t:k_S"),
    ])
    func linesAreReadAsTheyAre(text: String, expected: String) throws {
        #expect(try columns(text, "t.ndjson") == expected)
    }

    @Test func aListOfOneStaysAList() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("{\"tags\":[\"a\"]}\n{\"tags\":[\"b\"]}\n", to: "t.ndjson")
        let store = directory.path("s.sqlite")
        _ = try ImportPipeline(sources: [source], into: store, job: JobOptions(), run: RunOptions()).run()
        #expect(try StoreContent.query(store, "SELECT group_concat(tags, ' ') FROM t") == #"["a"] ["b"]"#)
    }
}
