import Foundation
import TestSupport
import Testing

/// BLOB columns of tables that the importer has not made: how texts stand for bytes is decided for the column.
struct BlobColumnTests {
    private static let uuid = "61f0c404-5cb3-11e7-907b-a6006ad3dba0"
    private static let bytes = "61F0C4045CB311E7907BA6006AD3DBA0"

    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
    }

    /// - Parameter rows: what an app has in the column, in SQL.
    private func make(_ rows: [String]) throws {
        let inserted = rows.map { "INSERT INTO t (h) VALUES (\($0));" }.joined()
        try StoreContent.execute(store, "CREATE TABLE t (id INTEGER PRIMARY KEY, h BLOB);" + inserted)
    }

    @discardableResult
    private func night(_ json: String) throws -> ChildProcess.Result {
        let source = directory.path("\(UUID()).json")
        try Data(json.utf8).write(to: URL(filePath: source))
        let result = try run([Project.importer, "import", source, "--into", store, "--entity", "t"])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return result
    }

    private func stored(_ after: Int = 0) throws -> String {
        try StoreContent.query(store, "SELECT group_concat(hex(h), ' ') FROM t WHERE h IS NOT NULL AND id > \(after)")
    }

    @Test(arguments: [
        // Nothing is there: what all texts are decides.
        ([], [uuid, "{\(uuid)}", uuid.uppercased()], "\(bytes) \(bytes) \(bytes)", "UUIDs"),
        // 32 digits are a UUID by its version and variant.
        ([], [bytes.lowercased(), bytes, uuid], "\(bytes) \(bytes) \(bytes)", "UUIDs"),
        (
            [], [bytes, "D41D8CD98F00B204E9800998ECF8427E"], hex(bytes) + " " + hex("D41D8CD98F00B204E9800998ECF8427E"),
            "of its texts"
        ),
        ([], [uuid, "abc"], "\(hex(uuid)) 616263", "of its texts"),
        ([], ["user", "users"], "75736572 7573657273", "of its texts"),
        ([], ["user"], "75736572", "of its texts"),
        ([], ["2015-01-31", "20150131"], "\(hex("2015-01-31")) \(hex("20150131"))", "of its texts"),
        ([], ["20150131T101112Z"], hex("20150131T101112Z"), "of its texts"),
        ([], ["d41d8cd98f00b204e9800998ecf8427e"], hex("d41d8cd98f00b204e9800998ecf8427e"), "of its texts"),
        ([], ["DA39A3EE"], hex("DA39A3EE"), "of its texts"), ([], ["AAEC", "/w=="], "000102 FF", "base64"),
        ([], ["AAEC", "_w=="], "000102 FF", "base64url"), ([], ["AAECAwQF\nBgc="], "0001020304050607", "base64"),
        // What is there decides first.
        (["x'00ff00ff00ff00ff00ff00ff00ff00ff'"], [uuid], bytes, "UUIDs"),
        (
            ["x'00ff00ff00ff00ff00ff00ff00ff00ff'"], ["d41d8cd98f00b204e9800998ecf8427e"],
            "D41D8CD98F00B204E9800998ECF8427E",
            "UUIDs"
        ),
        (["CAST('\(bytes)' AS BLOB)"], [bytes], hex(bytes), "of its texts"),
        (["CAST('\(uuid)' AS BLOB)"], [uuid], hex(uuid), "of its texts"), (["x'00ff10'"], ["user"], "BAC7AB", "base64"),
        (["CAST('users' AS BLOB)"], ["user"], "75736572", "of its texts"),
        (["'users'"], ["user"], "75736572", "of its texts"),
        (["CAST('AAEC' AS BLOB)"], ["/w=="], hex("/w=="), "of its texts"),
        (["CAST('{\"a\":1}' AS BLOB)"], ["e30="], "7B7D", "base64"),
    ])
    func readsAllTextsInOneWay(rows: [String], texts: [String], expected: String, notice: String) throws {
        try make(rows)
        let array = try JSONSerialization.data(withJSONObject: texts.map { ["h": $0] })
        let result = try night(String(decoding: array, as: UTF8.self))
        #expect(try stored(rows.count) == expected)
        #expect(result.errorText.contains("t: h: a BLOB column: "))
        #expect(result.errorText.contains(notice), "\(result.errorText)")
    }

    @Test func rejectsWhatDoesNotFit() throws {
        try make([])
        try night("[{\"h\": null}]")
        try night("[{\"h\": \"\(Self.uuid)\"}]")
        #expect(try night("[{\"h\": \"user\"}, {\"h\": \"\(Self.uuid)\"}]").outputText.contains("rejected  1"))
        #expect(try stored() == "\(Self.bytes) \(Self.bytes)")
    }

    @Test func writesTheTextsBack() throws {
        try make(["x'00ff'"])
        try StoreContent.execute(store, "DELETE FROM t; ALTER TABLE t ADD w BLOB")
        try night("[{\"id\": 1, \"h\": \"\(Self.uuid)\", \"w\": \"Zürich\"}]")
        let line = "{\"id\":1,\"h\":\"\(Self.uuid)\",\"w\":\"Zürich\"}\n"
        #expect(try run([Project.importer, "fetch", store, "t", "--format", "ndjson"]).outputText == line)
        let found = ["fetch", store, "t", "--where", "h = '\(Self.uuid)' and w = 'Zürich'", "--format", "ndjson"]
        #expect(try run([Project.importer] + found).outputText == line)
        // Changes have what no text stands for as it is, and are applied to the bytes that they were made of.
        let (old, changes) = (directory.path("old.sqlite"), directory.path("changes.ndjson"))
        try FileManager.default.copyItem(atPath: store, toPath: old)
        try StoreContent.execute(
            store,
            "UPDATE t SET w = x'ff' WHERE id = 1; INSERT INTO t SELECT 2, x'00', CAST('é' AS BLOB)"
        )
        for arguments in [["diff", old, store, "--output", changes], ["patch", old, changes]] {
            let result = try run([Project.importer] + arguments)
            #expect(result.ending == .exit(0), "\(result.errorText)")
        }
        let content = "SELECT group_concat(hex(h) || hex(w), ' ') FROM t"
        #expect(try StoreContent.query(old, content) == StoreContent.query(store, content))
        #expect(try StoreContent.query(old, content).contains("00C3A9"))
    }

    @Test func aModelSaysOtherwise() throws {
        try make([])
        let (source, model) = (directory.path("a.json"), directory.path("m.json"))
        try Data("[{\"h\": \"user\"}]".utf8).write(to: URL(filePath: source))
        let text = #"{"entities": {"t": {"attributes": {"h": {"type": "binary", "format": "base64"}}}}}"#
        try Data(text.utf8).write(to: URL(filePath: model))
        let result = try run([Project.importer, "import", source, "--into", store, "--model", model])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try stored() == "BAC7AB")
    }
}

private func hex(_ text: String) -> String { text.utf8.map { String(format: "%02X", $0) }.joined() }
