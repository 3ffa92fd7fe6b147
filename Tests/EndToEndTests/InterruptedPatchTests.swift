import Foundation
import TestSupport
import Testing

/// A patch or an undo that was interrupted is resumed, and the store is then as without the interruption, what undo needs included.
struct InterruptedPatchTests {
    private let patched: PatchedStore

    init() throws {
        patched = try PatchedStore()
        let (old, new) = (patched.directory.path("a.db"), patched.directory.path("b.db"))
        let made = try Python.run("patch_pairs.py", ["make", "4", old, new])
        #expect(made.ending == .exit(0), "\(made.errorText)")
        try patched.diff()
    }

    /// User tables, the log, and what the jobs have counted.
    private func content() throws -> [String] {
        try [
            patched.digest,
            patched.rows(
                "SELECT job, table_name, hex(key), hex(before), hex(after) FROM _import_undo ORDER BY 1, 2, 3"
            ),
            patched.rows("SELECT * FROM _import_entity ORDER BY job, position"),
            patched.rows("SELECT job, state FROM _import_job JOIN (SELECT id AS job FROM _import_job) ON job = id"),
        ]
    }

    private func command(_ name: String) -> [String] {
        name == "patch"
            ? [Project.importer, "patch", patched.store, patched.file, "--commit-every", "3", "--quiet"]
            : [Project.importer, "undo", patched.store, "--job", "1", "--quiet"]
    }

    /// What an uninterrupted command makes of the store, which is put back.
    private func whole(_ name: String) throws -> [String] {
        let (store, copy) = (patched.store, patched.directory.path("copy.db"))
        try FileManager.default.copyItem(atPath: store, toPath: copy)
        #expect(try run(command(name)).ending == .exit(0))
        let content = try content()
        try FileManager.default.removeItem(atPath: store)
        try FileManager.default.moveItem(atPath: copy, toPath: store)
        return content
    }

    @Test(arguments: ["patch", "undo"], [SIGKILL, SIGINT])
    func isResumedExactly(_ name: String, _ signal: Int32) throws {
        if name == "undo" { #expect(try patched.patch().ending == .exit(0)) }
        let whole = try whole(name)
        for changes in [20, 45] {
            let copy = patched.directory.path("before.db")
            try FileManager.default.copyItem(atPath: patched.store, toPath: copy)
            let child = try SteppedProgram(command(name), every: changes, below: patched.directory.path).released()
            if child.isRunning {
                child.signal(signal)
                child.resume()
                let ending = child.wait().ending
                #expect(signal == SIGKILL ? ending == .signal(SIGKILL) : [.exit(130), .exit(0)].contains(ending))
            }
            let status = try runImporter("status", patched.store, "--json").outputText
            if status.contains(#""state":"interrupted""#) || status.contains(#""state": "interrupted""#) {
                #expect(try runImporter("resume", patched.store, "--quiet", "--commit-every", "2").ending == .exit(0))
            } else {
                // It had not begun, or was finished.
                _ = try run(command(name))
            }
            #expect(try content() == whole, "after \(changes) changes")
            try patched.verify()
            for suffix in ["", "-wal", "-shm", ".lock"]
            where FileManager.default.fileExists(atPath: patched.store + suffix) {
                try FileManager.default.removeItem(atPath: patched.store + suffix)
            }
            try FileManager.default.moveItem(atPath: copy, toPath: patched.store)
        }
    }

    /// What the interrupted patch has committed is taken back, and the patch is over.
    @Test func anInterruptedPatchMayBeUndone() throws {
        let before = try patched.digest
        let program = try SteppedProgram(command("patch"), every: 10, below: patched.directory.path)
        while try StoreContent.rowCountLeft(patched.store) != nil, program.step() {
            // Until something of it is committed.
            let copy = patched.directory.path("look.db")
            for suffix in ["", "-wal"] {
                try? FileManager.default.removeItem(atPath: copy + suffix)
                try? FileManager.default.copyItem(atPath: patched.store + suffix, toPath: copy + suffix)
            }
            let commits = try? StoreContent.query(copy, "SELECT max(commits) FROM _import_job")
            if (commits.flatMap { Int($0) } ?? 0) >= 2 { break }
        }
        program.child.signal(SIGKILL)
        program.child.wait()
        #expect(try patched.rows("SELECT commits >= 2, source FROM _import_job") == "1|0")
        #expect(try patched.digest != before)
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.digest == before)
        try patched.verify()
        let resumed = try runImporter("resume", patched.store)
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        #expect(try patched.digest == before)
    }
}
