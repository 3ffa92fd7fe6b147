import Foundation
import TestSupport
import Testing

/// A store of an older format with an unfinished job is read as it is, and brought to this program's format by what writes to
/// it.
///
/// So is one of today's format, once there is another.
struct OlderStoreTests {
    private let directory: TemporaryDirectory
    private let source: String

    init() throws {
        directory = try TemporaryDirectory()
        source = try directory.write(OlderStore.records.joined(), to: "thing.ndjson")
    }

    private func format(of store: String) throws -> String {
        try StoreContent.query(store, "SELECT value FROM _import_meta WHERE key = 'format'")
    }

    /// What one import of the whole file by this program makes.
    private func whole() throws -> String {
        let whole = directory.path("whole.sqlite")
        try StoreContent.execute(whole, OlderStore.table)
        let model = try directory.write(OlderStore.model, to: "model.json")
        #expect(try runImporter(source, "--into", whole, "--model", model).ending == .exit(0))
        return whole
    }

    @Test(arguments: OlderStore.formats) func isReadAndStaysWhatItIs(format: Int) throws {
        let store = try OlderStore.make(ofFormat: format, in: directory)
        let before = try StoreContent.query(store, "SELECT name, sql FROM sqlite_master ORDER BY name")
        let status = try runImporter("status", store)
        #expect(status.ending == .exit(0), "\(status.errorText)")
        #expect(status.outputText.contains(/read +8\n/), "\(status.outputText)")
        let verify = try runImporter("verify", store, "--strict")
        #expect(verify.ending == .exit(0), "\(verify.outputText)")
        #expect(verify.outputText.contains("1 import is not finished"))
        let rows = try runImporter("fetch", store, "thing", "--format", "ndjson").outputText
        #expect(rows.split(separator: "\n").count == 7)
        #expect(try runImporter("rejects", store).outputText.contains("integer32"))
        #expect(try self.format(of: store) == "\(format)")
        #expect(try StoreContent.query(store, "SELECT name, sql FROM sqlite_master ORDER BY name") == before)
    }

    @Test(arguments: OlderStore.formats, [false, true])
    func resumesToWhatAnImportOfTheWholeFileMakes(format: Int, byImport: Bool) throws {
        let store = try OlderStore.make(ofFormat: format, in: directory)
        let model = try directory.write(OlderStore.model, to: "model.json")
        let result =
            byImport
            ? try runImporter(source, "--into", store, "--model", model, "--max-errors", "2")
            : try runImporter("resume", store, "--max-errors", "2")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let whole = try whole()
        #expect(try StoreContent.result(store) == StoreContent.result(whole))
        let schema = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
        #expect(try StoreContent.query(store, schema) == StoreContent.query(whole, schema))
        #expect(try self.format(of: store) == self.format(of: whole))
        let verify = try runImporter("verify", store, "--strict")
        #expect(verify.ending == .exit(0), "\(verify.outputText)")
        // The values that are compared from now on are there, too.
        let samples = "SELECT * FROM _import_sample ORDER BY row"
        #expect(try StoreContent.query(store, samples) == StoreContent.query(whole, samples))
        #expect(try !StoreContent.query(store, samples).isEmpty)
    }
}
