import Foundation
import TestSupport
import Testing

/// A disk that fills up stops the import, and nothing else: with room again it continues.
struct FullDiskTests {
    /// A small file system of its own; nil where mounting is not permitted.
    final class Disk {
        let path: String
        private let directory: TemporaryDirectory

        init?(megabytes: Int) throws {
            directory = try TemporaryDirectory()
            path = directory.path("disk")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            guard geteuid() == 0 else { return nil }
            let mounted = try run(["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path])
            guard mounted.ending == .exit(0) else { return nil }
        }

        deinit {
            _ = try? run(["umount", "-l", path])
        }
    }

    static let isPermitted = (try? Disk(megabytes: 1)) != nil

    @Test(.enabled(if: isPermitted, "mounting is not permitted here"), arguments: [true, false], [true, false])
    func goesOnOnceThereIsRoom(hasModel: Bool, hasChunksOnDisk: Bool) throws {
        // The WAL alone may come to 64 MB before it begins again.
        let disk = try #require(try Disk(megabytes: 100))
        let directory = try TemporaryDirectory()
        let people = Samples.people(count: 8_000, seed: 31)
        let source = try directory.write(people.array, to: "people.json")
        let model = try directory.write(Samples.model(), to: "model.json")
        let job = hasModel ? ["--model", model] : []
        let store = disk.path + "/store.sqlite"
        let filler = disk.path + "/filler"
        // Room for about half of what the import needs.
        try Data(count: 98 << 20).write(to: URL(filePath: filler))
        var options = ["--commit-every", "100", "--chunk-size", "50K"]
        if !hasChunksOnDisk { options += ["--chunks", directory.path("chunks")] }
        let failed = try run([Project.importer, "import", source, "--into", store] + job + options)
        #expect(failed.ending == .exit(74), "\(failed.errorText)")
        #expect(failed.errorText.contains(hasChunksOnDisk ? disk.path : store), "\(failed.errorText)")
        // A second try without room is as safe as the first.
        let second = try run([Project.importer, "import", source, "--into", store] + job + options)
        #expect(second.ending == .exit(74), "\(second.errorText)")
        // Not removed: a process that another test started while it was written may still have it open.
        try Data().write(to: URL(filePath: filler))
        if FileManager.default.fileExists(atPath: store) { #expect(try StoreContent.isWhole(store)) }

        let last = try run([Project.importer, "import", source, "--into", store] + job + options)
        #expect(last.ending == .exit(0), "\(last.errorText)")
        let whole = directory.path("whole.sqlite")
        #expect(try run([Project.importer, "import", source, "--into", whole] + job).ending == .exit(0))
        #expect(try StoreContent.result(store) == StoreContent.result(whole))
    }

    /// Without a model all chunks are kept at first: where they cannot fit, that is said before the first is cut.
    @Test(.enabled(if: isPermitted, "mounting is not permitted here"), arguments: [true, false])
    func refusesAnImportWhoseChunksCannotFit(hasModel: Bool) throws {
        // More than the half of it.
        let disk = try #require(try Disk(megabytes: 4))
        let directory = try TemporaryDirectory()
        let people = Samples.people(count: 30_000, seed: 31)
        let source = try directory.write(people.array, to: "people.json")
        let model = try directory.write(Samples.model(), to: "model.json")
        let chunks = disk.path + "/chunks"
        let command = [Project.importer, "import", source, "--into", directory.path("s.sqlite"), "--chunk-size", "50K"]
        let result = try run(command + ["--chunks", chunks] + (hasModel ? ["--model", model] : []))
        // With one, a few chunks at a time are enough.
        #expect(result.ending == .exit(hasModel ? 0 : 74), "\(result.errorText)")
        guard !hasModel else { return }
        #expect(result.errorText.contains("\(chunks): its disk has "), "\(result.errorText)")
        #expect(result.errorText.contains("--chunks DIR"), "\(result.errorText)")
        #expect(result.errorText.contains("importer infer \(source)` prints one"), "\(result.errorText)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).isEmpty)
        #expect(!directory.names().contains("s.sqlite"))
        #expect(try run(command).ending == .exit(0))
    }

    /// A commit that is larger than the page cache fills the disk while its rows are written.
    @Test(.enabled(if: isPermitted, "mounting is not permitted here"), arguments: [false, true])
    func saysSoWhereACommitDoesNotFit(hasTrigger: Bool) throws {
        let disk = try #require(try Disk(megabytes: 1))
        let directory = try TemporaryDirectory()
        let text = String(repeating: "0123456789", count: 60)
        let records = (1...9_000).map { "{\"id\": \($0), \"text\": \"\(text)\"}" }
        let source = try directory.write("[" + records.joined(separator: ",") + "]", to: "item.json")
        let model = try directory.write(
            #"{"entities":{"item":{"attributes":{"id":{"type":"integer64"},"text":{"type":"string"}}}}}"#,
            to: "model.json"
        )
        let store = disk.path + "/store.sqlite"
        if hasTrigger {
            let sql = """
                PRAGMA journal_mode = WAL;
                CREATE TABLE item (id INTEGER, text TEXT);
                CREATE TABLE seen (id INTEGER);
                CREATE TRIGGER note AFTER INSERT ON item BEGIN INSERT INTO seen VALUES (new.id); END
                """
            #expect(try run(["sqlite3", store, sql]).ending == .exit(0))
        }
        let failed = try run(
            [Project.importer, "import", source, "--into", store, "--model", model]
                + ["--chunks", directory.path("chunks")]
        )
        #expect(failed.ending == .exit(74), "\(failed.errorText)")
        #expect(failed.errorText.contains("\(store): the disk is full"), "\(failed.errorText)")
        #expect(!failed.errorText.contains("trigger"), "\(failed.errorText)")
    }

    /// Without a model all chunks stay until it is inferred: that is noticed before the disk is full to its last byte.
    @Test(.enabled(if: isPermitted, "mounting is not permitted here"))
    func stopsBeforeKeptChunksFillTheDisk() throws {
        let disk = try #require(try Disk(megabytes: 3))
        let directory = try TemporaryDirectory()
        let source = try directory.write(Samples.people(count: 40_000, seed: 32).array, to: "people.json")
        let arguments = [Project.importer, "import", source, "--into", directory.path("store.sqlite")]
        let failed = try run(arguments + ["--chunks", disk.path + "/chunks", "--chunk-size", "256K"])
        #expect(failed.ending == .exit(74), "\(failed.errorText)")
        #expect(failed.errorText.contains("KiB left"), "\(failed.errorText)")
        let free = try FileManager.default.attributesOfFileSystem(forPath: disk.path)[.systemFreeSize] as? Int
        #expect(try #require(free) > 0)

        let last = try run(arguments + ["--chunks", directory.path("chunks"), "--chunk-size", "256K"])
        #expect(last.ending == .exit(0), "\(last.errorText)")
    }

    /// Wherever the room ends, a folder of chunks without a store is not left: nobody would know whose it is.
    @Test func noFolderOfChunksIsLeftAlone() throws {
        let directory = try TemporaryDirectory()
        let people = Samples.people(count: 1_000, seed: 5)
        let source = try directory.write(people.array, to: "people.json")
        let model = try directory.write(Samples.model(), to: "model.json")
        let store = directory.path("store.sqlite")
        var failures = 0
        // In blocks of 512 bytes, as POSIX has it: the store itself is about as large when its chunks begin.
        for blocks in stride(from: 96, to: 260, by: 4) {
            let command =
                "ulimit -f \(blocks); exec \"$0\" import \"$1\" --model \"$2\" --into \"$3\" --chunk-size 8K -q"
            let result = try run(["sh", "-c", command, Project.importer, source, model, store])
            failures += result.ending == .exit(74) ? 1 : 0
            let left = directory.names().filter { $0.hasPrefix("store.sqlite") }
            #expect(left.contains("store.sqlite") || !left.contains("store.sqlite.chunks"), "\(blocks): \(left)")
            for name in left { try FileManager.default.removeItem(atPath: directory.path(name)) }
        }
        #expect(failures > 5)
    }
}
