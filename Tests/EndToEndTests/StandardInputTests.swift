import Foundation
import TestSupport
import Testing

/// What cannot be read twice is still resumed: the same stream is piped again.
struct StandardInputTests {
    /// A command whose output becomes the importer's standard input, through a named pipe.
    final class Piped {
        let producer: ChildProcess
        let importer: ChildProcess

        /// - Parameter rows: stops where the store holds so many.
        init(
            _ producing: String,
            into arguments: [String],
            directory: TemporaryDirectory,
            stoppedAt rows: (count: Int, store: String)? = nil
        ) throws {
            let pipe = directory.path("pipe-\(UUID().uuidString)")
            guard mkfifo(pipe, 0o600) == 0 else { throw StoreContent.Failure("mkfifo: \(errno)") }
            producer = try ChildProcess(["/bin/sh", "-c", "\(producing) > '\(pipe)'"])
            let command = [Project.importer] + arguments
            guard let rows else {
                importer = try ChildProcess(command, input: pipe)
                return
            }
            let program = try SteppedProgram(command, every: 31, below: directory.path, input: pipe)
            importer = program.child
            let hasCome = try program.step(untilRows: rows.count, in: rows.store)
            try #require(hasCome, "\(program.child.wait().errorText)")
            program.released()
        }

        func wait() -> ChildProcess.Result {
            let result = importer.wait()
            producer.wait()
            return result
        }
    }

    static let run = ["--commit-every", "20", "--chunk-size", "40K"]

    private func packed(_ text: String, in directory: TemporaryDirectory, as name: String) throws -> String {
        let source = try directory.write(text, to: name)
        try TestSupport.run(["gzip", "-f", source])
        return source + ".gz"
    }

    @Test(arguments: [SIGKILL, SIGINT], [true, false])
    func goesOnWhenPipedAgain(signal: Int32, hasModel: Bool) throws {
        let directory = try TemporaryDirectory()
        let people = Samples.people(count: 8_000, seed: 11)
        let source = try packed(people.array, in: directory, as: "people.json")
        let store = directory.path("store.sqlite")
        let model = try directory.write(Samples.model(), to: "model.json")
        let job = hasModel ? ["--model", model] : ["--entity", "Person"]
        let arguments = ["import", "-", "--into", store] + job + Self.run
        var generator = SeededGenerator(seed: UInt64(signal))
        for _ in 0..<3 {
            let wanted = try (StoreContent.rowCountLeft(store) ?? 0) + 20 * (1 + generator.next(8))
            let piped = try Piped(
                "gzip -dc '\(source)'",
                into: arguments,
                directory: directory,
                stoppedAt: (wanted, store)
            )
            piped.importer.signal(signal)
            piped.importer.resume()
            #expect(piped.wait().ending == (signal == SIGINT ? .exit(130) : .signal(signal)))
        }
        let last = try Piped("gzip -dc '\(source)'", into: arguments, directory: directory).wait()
        #expect(last.ending == .exit(0), "\(last.errorText)")

        let whole = directory.path("whole.sqlite")
        let uninterrupted = try Piped(
            "gzip -dc '\(source)'",
            into: ["import", "-", "--into", whole] + job,
            directory: directory
        ).wait()
        #expect(uninterrupted.ending == .exit(0), "\(uninterrupted.errorText)")
        #expect(try StoreContent.result(store) == StoreContent.result(whole))
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func refusesAnotherStream() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Samples.people(count: 8_000, seed: 12).ndjson, to: "one.ndjson")
        let other = try directory.write(Samples.people(count: 8_000, seed: 13).ndjson, to: "other.ndjson")
        let store = directory.path("store.sqlite")
        let model = try directory.write(Samples.model(records: "$"), to: "model.json")
        let arguments = ["import", "-", "--into", store, "--model", model] + Self.run
        let piped = try Piped("cat '\(source)'", into: arguments, directory: directory, stoppedAt: (400, store))
        piped.importer.signal(SIGKILL)
        #expect(piped.wait().ending == .signal(SIGKILL))

        let before = try StoreContent.result(store)
        let refused = try Piped("cat '\(other)'", into: arguments, directory: directory).wait()
        guard case .exit(let code) = refused.ending, (64...78).contains(code) else {
            Issue.record("\(refused.ending) \(refused.errorText)")
            return
        }
        #expect(try StoreContent.result(store) == before)
        let short = try Piped("head -c 1000 '\(source)'", into: arguments, directory: directory).wait()
        #expect(short.ending != .exit(0))
        #expect(try StoreContent.result(store) == before)
        let last = try Piped("cat '\(source)'", into: arguments, directory: directory).wait()
        #expect(last.ending == .exit(0), "\(last.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM person") == "8000")
    }

    /// A stream that is in chunks as a whole is compared to its end when one is given, and not missed when none is.
    @Test(arguments: [true, false]) func comparesAStreamThatIsInChunks(isOther: Bool) throws {
        let directory = try TemporaryDirectory()
        let lines = (0..<400).map { "{\"n\":\($0)}\n" }.joined()
        let source = try directory.write(lines, to: "one.ndjson")
        let store = directory.path("store.sqlite")
        let arguments = ["import", "-", "--into", store, "--entity", "r"] + Self.run
        let piped = try Piped("cat '\(source)'", into: arguments, directory: directory, stoppedAt: (40, store))
        piped.importer.signal(SIGKILL)
        #expect(piped.wait().ending == .signal(SIGKILL))
        let before = try StoreContent.query(store, "SELECT * FROM r")
        if isOther {
            for other in ["", "{\"n\":1}\n{\"n\":2}\n", lines + "{\"n\":400}\n"] {
                let file = try directory.write(other, to: "other")
                let refused = try TestSupport.run([Project.importer] + arguments, input: file)
                #expect(refused.ending == .exit(65) && refused.errorText.contains("--again"), "\(refused.errorText)")
                #expect(try StoreContent.query(store, "SELECT * FROM r") == before)
            }
            #expect(try TestSupport.run([Project.importer] + arguments, input: source).ending == .exit(0))
        } else {
            #expect(try runImporter("resume", store).ending == .exit(0))
        }
        #expect(try StoreContent.query(store, "SELECT count(*), sum(n) FROM r") == "400|79800")
    }

    /// What a refused stream was cut into is in nobody's way.
    @Test func anotherStreamLeavesNoChunks() throws {
        let directory = try TemporaryDirectory()
        let lines = (0..<400).map { "{\"n\":\($0)}\n" }.joined()
        let source = try directory.write(lines, to: "one.ndjson")
        let store = directory.path("store.sqlite")
        let model = #"{"entities":{"r":{"attributes":{"n":{"type":"integer64"}}}}}"#
        let given = ["--model", try directory.write(model, to: "model.json")]
        let arguments = ["import", "-", "--into", store] + given + Self.run
        let piped = try Piped("cat '\(source)'", into: arguments, directory: directory, stoppedAt: (40, store))
        piped.importer.signal(SIGKILL)
        #expect(piped.wait().ending == .signal(SIGKILL))
        try FileManager.default.removeItem(atPath: store + ".chunks")
        let other = try directory.write(lines.replacing("n", with: "k"), to: "other")
        #expect(try runImporter("resume", store, input: other).ending == .exit(65))
        #expect(try runImporter("resume", store, input: source).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT count(*), sum(n) FROM r") == "400|79800")
    }

    @Test func asksForAnEntity() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"a\":1}]", to: "source.json")
        let arguments = ["import", "-", "--into", directory.path("store.sqlite")]
        let result = try TestSupport.run([Project.importer] + arguments, input: source)
        #expect(result.ending == .exit(64))
        #expect(result.errorText.contains("--entity"))
    }

    // MARK: Another stream

    /// A store whose import of a stream stopped at a fault, after three records.
    private func stopped(in directory: TemporaryDirectory) throws -> String {
        let store = directory.path("store.sqlite")
        let broken = try directory.write("{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4", to: "broken")
        let first = try runImporter("-", "--into", store, "--entity", "r", input: broken)
        try #require(first.ending == .exit(65), "\(first.errorText)")
        return store
    }

    @Test(arguments: ["", "{\"n\":1}\n", "{\"k\":1}\n{\"k\":2}\n{\"k\":3}\n{\"k\":4}\n"])
    func aStreamThatIsRefusedChangesNothing(text: String) throws {
        let directory = try TemporaryDirectory()
        let store = try stopped(in: directory)
        let before = try StoreContent.query(store, "SELECT * FROM r")
        let other = try directory.write(text, to: "other")
        let refused = try runImporter("resume", store, input: other)
        #expect(refused.ending == .exit(65) && refused.errorText.contains("--again"), "\(refused.errorText)")
        #expect(try StoreContent.query(store, "SELECT * FROM r") == before)
        let whole = try directory.write("{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4.5}\n", to: "whole")
        let resumed = try runImporter("resume", store, input: whole)
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        #expect(try StoreContent.query(store, "SELECT * FROM r") == "1.0\n2.0\n3.0\n4.5")
    }

    /// What its records turn out to lack is known only when all have been seen.
    @Test func aModelThatIsRefusedChangesNothing() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"n\":1},{\"n\":2} oops", to: "r.json")
        let store = directory.path("store.sqlite")
        #expect(try runImporter(source, "--into", store).ending == .exit(65))
        try directory.write("[{\"n\":1},{\"n\":2},{\"n\":3}]", to: "r.json")
        let refused = try runImporter("resume", store, "--index", "nr")
        #expect(refused.ending == .exit(64), "\(refused.errorText)")
        #expect(try StoreContent.query(store, "SELECT * FROM r") == "1\n2")
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT * FROM r") == "1\n2\n3")
    }

    @Test(arguments: ["--again", "--restart"])
    func anotherStreamSaysHowToGoOn(option: String) throws {
        let directory = try TemporaryDirectory()
        let store = try stopped(in: directory)
        let other = try directory.write("{\"k\":1}\n{\"k\":2}\n", to: "other")
        for entity in ["r", "other"] {
            let refused = try runImporter("-", "--into", store, "--entity", entity, input: other)
            #expect([.exit(64), .exit(65)].contains(refused.ending))
            #expect(refused.errorText.contains("resume") && refused.errorText.contains(option), "\(refused.errorText)")
        }
        let gone = try runImporter("-", "--into", store, "--entity", "other", option, input: other)
        #expect(gone.ending == .exit(0), "\(gone.errorText)")
        #expect(try StoreContent.query(store, "SELECT k FROM other") == "1\n2")
        let kept = try StoreContent.query(store, "SELECT count(*) FROM sqlite_master WHERE name = 'r'")
        #expect(kept == (option == "--again" ? "1" : "0"))
    }
}
