import Foundation
import ImportModel
import Importer
import Testing

@testable import ImportCommand

/// What a test of a disk makes up, and what it compares, without the imports between.
struct SelfTestTests {
    /// A folder that goes with the test.
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// Imports two records, one of which has an attribute that the model lacks, and changes the store with sqlite3.
        func database(_ name: String, _ sql: String) throws -> String {
            let path = "\(path)/\(name)"
            let source = "\(self.path)/item.ndjson"
            try "{\"id\": 1}\n{\"id\": 2, \"x\": 1}\n".write(toFile: source, atomically: true, encoding: .utf8)
            let model = "{\"entities\": {\"item\": {\"attributes\": {\"id\": {\"type\": \"integer64\"}}}}}"
            let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
            _ = try ImportPipeline(sources: [source], into: path, job: options, run: RunOptions()).run()
            #expect(try output(of: ["sqlite3", path, sql]).isEmpty)
            return path
        }

        func output(of command: [String]) throws -> Data {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = command
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return data
        }
    }

    private static let rows = """
        CREATE TABLE people (id INTEGER PRIMARY KEY, name, age);
        INSERT INTO people VALUES (1, 'Ada', 36), (2, 'a' || char(0) || 'b', 1.5), (3, x'6162', NULL);
        CREATE TABLE tags (text);
        INSERT INTO tags VALUES ('one'), ('two');
        CREATE INDEX people_name ON people (name);
        """

    /// A line of a ledger.
    private static func line(_ job: Int, _ kind: String, _ count: Int) -> String {
        "INSERT INTO _import_ledger (job, entity, attribute, kind, count) VALUES (\(job), 'item', 'id', '\(kind)', \(count));"
    }

    @Test(arguments: SelfTestCase.Shape.allCases)
    func theSameSeedMakesTheSameData(shape: SelfTestCase.Shape) {
        for seed in UInt64(1)...5 {
            let test = SelfTestCase(shape, seed: seed)
            #expect(test == SelfTestCase(shape, seed: seed))
            #expect(test != SelfTestCase(shape, seed: seed + 5))
            #expect(test.nights.count == ([.grown, .mirror].contains(shape) ? 2 : 1))
        }
    }

    /// All but rejects are JSON, as Foundation reads it.
    @Test(arguments: SelfTestCase.Shape.allCases.filter { $0 != .rejects })
    func whatIsMadeUpIsJSON(shape: SelfTestCase.Shape) throws {
        let files = SelfTestCase(shape, seed: 3, records: 50).nights.flatMap { $0 }
        var records = 0
        for (name, data) in files where !name.hasSuffix(".gz") {
            let parts = name.hasSuffix(".ndjson") ? data.split(separator: UInt8(ascii: "\n")) : [data]
            for part in parts {
                let value = try JSONSerialization.jsonObject(with: part)
                records += (value as? [Any])?.count ?? 1
            }
        }
        #expect(records >= (shape == .document ? 1 : shape == .gzip ? 0 : 50))
    }

    @Test(arguments: [
        (
            "UPDATE people SET name = 'Eda' WHERE id = 1",
            "table people, row 1: name is text 'Eda' instead of text 'Ada'"
        ),
        ("UPDATE people SET name = 'a' || char(0) || 'c' WHERE id = 2", "table people, row 2: name is"),
        ("UPDATE people SET name = 'ab' WHERE id = 3", "table people, row 3: name is text 'ab' instead of blob 6162"),
        ("UPDATE people SET age = '36' WHERE id = 1", "table people, row 1: age is text"),
        ("UPDATE people SET age = 36.0 WHERE id = 1", "table people, row 1: age is real"),
        ("UPDATE people SET age = 0 WHERE id = 3", "table people, row 3: age is integer 0 instead of null NULL"),
        ("UPDATE people SET age = 1.5000000000000002 WHERE id = 2", "table people, row 2: age is real"),
        ("DELETE FROM people WHERE id = 3", "table people: 2 rows instead of 3"),
        ("INSERT INTO tags VALUES ('three')", "table tags: 3 rows instead of 2"),
        ("UPDATE tags SET rowid = 7 WHERE rowid = 2", "table tags, row 2: rowid is integer 7 instead of integer 2"),
        ("DROP TABLE tags", "table sqlite_master"), ("DROP INDEX people_name", "table sqlite_master"),
        ("UPDATE _import_ledger SET count = 4", "table _import_ledger, row 1: count is integer 4 instead of integer 1"),
        (line(2, "a", 1), "table _import_ledger: 2 rows instead of 1"),
        ("DELETE FROM item WHERE rowid = 2", "table item: 1 rows instead of 2"),
    ])
    func aDifferenceIsSeen(change: String, text: String) throws {
        let folder = try Folder()
        let whole = try StoreState(of: folder.database("whole", Self.rows))
        let changed = try StoreState(of: folder.database("changed", Self.rows + change))
        #expect(changed.difference(from: whole)?.hasPrefix(text) == true, "\(changed.difference(from: whole) ?? "")")
        #expect(whole.difference(from: changed) != nil)
    }

    @Test func theOrderOfTheLedgerIsNoDifference() throws {
        let folder = try Folder()
        let one = Self.line(1, "a", 1) + Self.line(1, "b", 2)
        let two = Self.line(1, "b", 2) + Self.line(1, "a", 1)
        let whole = try StoreState(of: folder.database("one", Self.rows + one))
        #expect(try StoreState(of: folder.database("two", Self.rows + two)).difference(from: whole) == nil)
    }

    /// A mirror may have been done twice.
    @Test func jobsCountWhereTheyAreToBeCounted() throws {
        let folder = try Folder()
        let first = Self.rows + Self.line(1, "a", 3)
        let whole = try folder.database("whole", first)
        let again = try folder.database("again", first + Self.line(2, "a", 3))
        let other = try folder.database("other", first + Self.line(2, "a", 4))
        func difference(_ store: String, countsJobs: Bool) throws -> String? {
            try StoreState(of: store, countsJobs: countsJobs).difference(
                from: StoreState(of: whole, countsJobs: countsJobs)
            )
        }
        #expect(try difference(again, countsJobs: true) != nil)
        #expect(try difference(again, countsJobs: false) == nil)
        #expect(try difference(other, countsJobs: false) != nil)
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 200_000])
    func storedGzipIsGzip(count: Int) throws {
        let folder = try Folder()
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        let path = "\(folder.path)/bytes.gz"
        try StoredGzip.data(bytes).write(to: URL(filePath: path))
        #expect(try folder.output(of: ["gzip", "-dc", path]) == Data(bytes))
    }

    @Test func theFilesShowHowFarAnImportIs() throws {
        let folder = try Folder()
        let store = "\(folder.path)/store"
        let chunks = store + ".chunks"
        let files = FileManager.default
        try files.createDirectory(atPath: chunks, withIntermediateDirectories: true)
        func passed(_ point: StopPoint, _ change: () throws -> Void) rethrows -> Bool {
            var watch = ImportFileWatch(store: store)
            var looks = [watch.hasPassed(point)]
            try change()
            let hasPassed = watch.hasPassed(point)
            looks.append(watch.hasPassed(point))
            #expect(looks == [false, false])
            return hasPassed
        }
        func make(_ name: String) { _ = files.createFile(atPath: name, contents: Data([1])) }
        #expect(passed(.chunk) { make(chunks + "/chunk-000001.ndjson") })
        #expect(!passed(.chunk) { make(chunks + "/manifest.ndjson") })
        #expect(passed(.chunk) { make(chunks + "/chunk-000002.ndjson") })
        #expect(passed(.commit) { make(store + "-wal") })
        #expect(try !passed(.end) { try files.removeItem(atPath: chunks + "/chunk-000001.ndjson") })
        #expect(try passed(.end) { try files.removeItem(atPath: chunks + "/chunk-000002.ndjson") })
        make(chunks + "/chunk-000003.ndjson")
        #expect(try passed(.done) { try files.removeItem(atPath: chunks) })
    }

    @Test func knowsTheFileSystemOfAFolder() throws {
        #expect(FileSystemName(of: "/proc/self")?.type == "proc")
        #expect(FileSystemName(of: "/proc/self")?.isMemory == false)
        #expect(FileSystemName(of: "/nowhere at all") == nil)
    }
}
