import Foundation
import TestSupport
import Testing

/// The files of JSONTestSuite: what must parse is accepted, what must not is refused, and nothing crashes.
@Suite(.enabled(if: SharedData.isPresent, "there is no shared/data beside the package"))
struct JSONTestSuiteTests {
    static let folder = "JSONTestSuite/test_parsing"
    static let names = SharedData.names(in: folder)
    /// Sound streams of two values.
    static let streams: Set<String> = [
        "n_structure_double_array.json", "n_structure_object_with_trailing_garbage.json",
    ]

    private func split(_ name: String, _ options: String...) throws -> SplitResult {
        try SplitResult(SharedData.path("\(Self.folder)/\(name)"), options: options)
    }

    @Test(arguments: names.filter { $0.hasPrefix("y_") })
    func takesWhatIsJSON(name: String) throws {
        let found = try split(name)
        #expect(found.ending == .exit(0), "\(found.messages)")

        let whole = try split(name, "--records", "$")
        #expect(whole.ending == .exit(0), "\(whole.messages)")
        let record = try #require(whole.records.first)
        #expect(whole.records.count == 1)
        // The record is the source's own bytes, but for line breaks and what is around it.
        let source = try Data(contentsOf: URL(filePath: SharedData.path("\(Self.folder)/\(name)")))
        let spaced = Data(source.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 })
        #expect(spaced.range(of: Data(record.utf8)) != nil || String(decoding: spaced, as: UTF8.self).contains(record))
    }

    @Test(arguments: names.filter { $0.hasPrefix("n_") && !streams.contains($0) })
    func refusesWhatIsNot(name: String) throws {
        let source = try Data(contentsOf: URL(filePath: SharedData.path("\(Self.folder)/\(name)")))
        let isBlank = source.allSatisfy { [0xEF, 0xBB, 0xBF, 0x20].contains($0) }
        for options in [["--strict"], ["--strict", "--records", "$"]] {
            let result = try SplitResult(SharedData.path("\(Self.folder)/\(name)"), options: options)
            #expect(result.ending == .exit(isBlank ? 66 : 65), "\(options) \(result.messages)")
            #expect(result.messages.contains(name), "\(options) \(result.messages)")
        }
    }

    @Test(arguments: streams.sorted())
    func takesAStreamOfTwoValues(name: String) throws {
        #expect(try split(name).ending == .exit(0))
        let values = try split(name, "--records", "$")
        #expect(values.ending == .exit(0))
        #expect(values.records.count == 2)
        // A record path holds for each value.
        if name.contains("array") { #expect(try split(name, "--records", "$[*]").ending == .exit(0)) }
    }

    @Test(arguments: names.filter { $0.hasPrefix("i_") })
    func crashesOnNothing(name: String) throws {
        let directory = try TemporaryDirectory()
        let path = SharedData.path("\(Self.folder)/\(name)")
        let result = try split(name)
        #expect(result.ending == .exit(0) || result.ending == .exit(65), "\(result.messages)")
        let store = directory.path("store.sqlite")
        let imported = try runImporter("import", path, "--into", store, "--entity", "t")
        #expect(imported.ending == .exit(0) || imported.ending == .exit(65), "\(imported.errorText)")
        if FileManager.default.fileExists(atPath: store) { #expect(try StoreContent.isWhole(store)) }
    }

    /// Scalars go into the attribute `value`; everything that is taken comes back.
    @Test(arguments: names.filter(isReadBack))
    func importsWhatIsJSON(name: String) throws {
        let directory = try TemporaryDirectory()
        let path = SharedData.path("\(Self.folder)/\(name)")
        let store = directory.path("store.sqlite")
        let imported = try runImporter("import", path, "--into", store, "--entity", "t", "--records", "$")
        #expect(imported.ending == .exit(0), "\(imported.errorText)")
        let inferred = try runImporter("infer", path, "--entity", "t", "--records", "$")
        let model = try directory.write(inferred.output, to: "model.json")
        let compared = try Python.run("roundtrip.py", [store, model, path])
        #expect(compared.ending == .exit(0), "\(compared.outputText) \(compared.errorText)")
    }

    /// Numbers, structures and surrogates: where readers differ, but all that Python reads as well.
    private static func isReadBack(_ name: String) -> Bool {
        if name.hasPrefix("y_structure") || name.hasPrefix("y_number") { return true }
        let isEscaped = name.contains("surrogate") && !name.contains("UTF8_surrogate")
        return isEscaped && !name.hasPrefix("n_")
    }
}
