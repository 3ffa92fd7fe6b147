import TestSupport
import Testing

/// What is left of random imports with `--mirror` is what an independent model says, in any number of workers, chunks and commits.
struct MirrorRandomTests {
    static let shapes = ["integer", "text", "pair", "related"]

    private static func run(_ shape: String, seed: Int, _ more: String...) throws {
        let directory = try TemporaryDirectory()
        let result = try Python.run("mirror_model.py", [Project.importer, "\(seed)", directory.path, shape] + more)
        #expect(result.ending == .exit(0), "\(result.outputText.prefix(2_000)) \(result.errorText.suffix(2_000))")
    }

    @Test(arguments: shapes, 1...8) func leavesWhatTheModelLeaves(shape: String, seed: Int) throws {
        try Self.run(shape, seed: seed)
    }

    @Test(arguments: shapes, [101, 102]) func isTakenBackWithItsRowIDsAndDoneAgain(shape: String, seed: Int) throws {
        try Self.run(shape, seed: seed, "undo")
    }
}
