import Foundation
import TestSupport
import Testing

/// Core Data models in their folders: which one is read, and that it imports as its JSON does.
struct CoreDataFileTests {
    private static func model(_ name: String = "Mood", more: String = "") -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model><entity name="\(name)">
        <attribute name="id" attributeType="Integer 64"><userInfo><entry key="sync.isPrimaryKey" value="YES"/></userInfo></attribute>
        <attribute name="takenAt" optional="YES" attributeType="Date"/>
        <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
        <attribute name="colors" optional="YES" attributeType="Transformable" valueTransformerName="T"/>
        <relationship name="country" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Country"
          inverseName="moods" inverseEntity="Country"/>
        <fetchIndex name="i"><fetchIndexElement property="country" type="Binary"/><fetchIndexElement property="takenAt"
          type="Binary"/></fetchIndex>\(more)</entity>
        <entity name="Country"><attribute name="code" attributeType="String" indexed="YES"/>
        <attribute name="name" optional="YES" attributeType="String" indexed="YES"/>
        <relationship name="moods" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="\(name)"
          inverseName="country" inverseEntity="\(name)"/><uniquenessConstraints><uniquenessConstraint>
          <constraint value="code"/></uniquenessConstraint></uniquenessConstraints></entity>
        <composite name="Place"><attribute name="latitude" attributeType="Double"/></composite></model>
        """
    }

    private static let records = """
        {"id": 1, "taken_at": "2024-01-01T00:00:00Z", "place": {"latitude": 1.5}, "country": {"code": "NO", "name": "Norway"}}
        {"id": 2, "takenAt": "2024-01-02T00:00:00Z", "colors": ["red"], "country": "NO"}
        {"id": 1, "place": {"latitude": 2.5}}

        """

    /// Writes an `.xcdatamodeld` with versions by name.
    private func folder(
        _ name: String,
        _ versions: [String: String],
        current: String? = nil,
        in directory: TemporaryDirectory
    ) throws -> String {
        let folder = directory.path("\(name).xcdatamodeld")
        for (version, text) in versions {
            let url = URL(filePath: folder).appending(path: "\(version).xcdatamodel")
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
            try text.write(to: url.appending(path: "contents"), atomically: true, encoding: .utf8)
        }
        if let current {
            let list = """
                <?xml version="1.0" encoding="UTF-8"?>
                <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
                <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(current)</string></dict></plist>
                """
            try list.write(toFile: "\(folder)/.xccurrentversion", atomically: true, encoding: .utf8)
        }
        return folder
    }

    @Test func importsAsTheModelDoesThatIsMadeOfIt() throws {
        let directory = try TemporaryDirectory()
        let folder = try folder("Moods", ["Moods": Self.model()], in: directory)
        let converted = try runImporter("model", "convert", folder)
        #expect(converted.ending == .exit(0))
        #expect(converted.errorText.contains("Mood.colors (line 6): is kept as JSON"), "\(converted.errorText)")
        let json = try directory.write(converted.output, to: "moods.json")
        #expect(try runImporter("model", "check", json).outputText == "no mistakes\n")
        let source = try directory.write(Self.records, to: "moods.ndjson")
        var results: [String] = []
        let models = [
            json, folder, "\(folder)/Moods.xcdatamodel", "\(folder)/Moods.xcdatamodel/contents", "\(folder):Moods",
        ]
        for (index, model) in models.enumerated() {
            let store = directory.path("\(index).sqlite")
            let options = ["--entity", "Mood", "--model", model, "--quiet"]
            let result = try run([Project.importer, source, "--into", store] + options)
            #expect(result.ending == .exit(0) && result.errorText.isEmpty, "\(result.errorText)")
            results.append(try StoreContent.result(store))
            #expect(try runImporter("verify", store, "--quiet").ending == .exit(0))
            #expect(try runImporter("model", "print", store).output == converted.output)
        }
        #expect(results.allSatisfy { $0 == results[0] })
        let store = directory.path("1.sqlite")
        #expect(
            try StoreContent.query(store, "SELECT id, place_latitude, country_code FROM Mood").contains("2.5")
        )
        let indexes = "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_master WHERE type = 'index' AND "
        #expect(
            try StoreContent.query(
                store,
                indexes + "name NOT GLOB '_import*' AND name NOT GLOB 'sqlite*' ORDER BY name)"
            )
            .contains("Country_name Mood_country Mood_country_code_takenAt")
        )
    }

    /// An entity may have relationships only: its table has a column for its key.
    @Test func importsAnEntityWithoutAttributes() throws {
        let directory = try TemporaryDirectory()
        let model = """
            <model><entity name="Tag"><relationship name="users" optional="YES" toMany="YES" destinationEntity="User"
              inverseName="tags"/></entity><entity name="User"><attribute name="name" attributeType="String"/>
            <relationship name="tags" optional="YES" toMany="YES" destinationEntity="Tag" inverseName="users"/></entity></model>
            """
        let source = try directory.write(
            "{\"users\": [{\"name\": \"a\"}, {\"name\": \"b\"}]}\n{\"users\": []}\n",
            to: "tags.ndjson"
        )
        let store = directory.path("tags.sqlite")
        let options = ["--entity", "Tag", "--model", try directory.write(model, to: "contents"), "--quiet"]
        let result = try run([Project.importer, source, "--into", store] + options)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let counts = "SELECT (SELECT count(*) FROM Tag) || ',' || (SELECT count(*) FROM Tag_users)"
        #expect(try StoreContent.query(store, counts).contains("2,2"))
        #expect(try runImporter("verify", store, "--quiet").ending == .exit(0))
    }

    // MARK: Which version

    @Test func readsTheCurrentVersionOrTheOneThatIsNamed() throws {
        let directory = try TemporaryDirectory()
        let versions = ["M": Self.model("A"), "M 2": Self.model("B"), "M 10": Self.model("C")]
        let marked = try folder("Marked", versions, current: "M 2.xcdatamodel", in: directory)
        func entity(_ path: String) throws -> String? {
            let text = try runImporter("model", "convert", path).outputText
            return ["A", "B", "C"].first { text.contains("    \"\($0)\": {") }
        }
        #expect(try entity(marked) == "B")
        #expect(try entity(marked + "/") == "B")
        #expect(try entity("\(marked):M 10") == "C")
        #expect(try entity("\(marked):M 10.xcdatamodel") == "C")
        #expect(try entity("\(marked):'M'") == "A")

        let open = try folder("Open", versions, in: directory)
        let result = try runImporter("model", "convert", open)
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("It has: M, M 2, M 10."), "\(result.errorText)")
        let lost = try folder("Lost", versions, current: "M 3.xcdatamodel", in: directory)
        #expect(
            try runImporter("model", "convert", lost).errorText.contains("names M 3.xcdatamodel, which does not exist")
        )
        // A name is one of those in the folder, and no path.
        for name in ["../Marked.xcdatamodeld/M", "M 3", ""] {
            let result = try runImporter("model", "convert", "\(marked):\(name)")
            #expect(result.ending == .exit(66) && result.errorText.contains("has no version"), "\(result.errorText)")
        }
        #expect(try runImporter("model", "convert", directory.path("No.xcdatamodeld:M")).ending == .exit(66))
        #expect(try runImporter("model", "convert", directory.path("No.xcdatamodeld")).ending == .exit(66))
    }

    @Test func refusesBinaryModelsAndOtherFolders() throws {
        let directory = try TemporaryDirectory()
        for (name, file, content) in [
            ("Old.xcdatamodel", "elements", "bplist00"), ("Built.momd", "Built.mom", "bplist00"),
            ("Folder", "contents", "<model/>"),
        ] {
            try FileManager.default.createDirectory(atPath: directory.path(name), withIntermediateDirectories: true)
            _ = try directory.write(content, to: "\(name)/\(file)")
            let result = try runImporter("model", "check", directory.path(name))
            #expect(result.ending == .exit(65), "\(name): \(result.errorText)")
        }
        let result = try runImporter("model", "check", directory.path("Built.momd/Built.mom"))
        #expect(result.ending == .exit(65) && result.errorText.contains("binary model"), "\(result.errorText)")
        try FileManager.default.createDirectory(
            atPath: directory.path("Empty.xcdatamodel"),
            withIntermediateDirectories: true
        )
        #expect(try runImporter("model", "check", directory.path("Empty.xcdatamodel")).ending == .exit(66))
    }

    @Test func namesMistakesWithTheirLines() throws {
        let directory = try TemporaryDirectory()
        let text = Self.model(more: "\n<relationship name=\"r\" destinationEntity=\"Contry\"/>")
        let file = try directory.write(text, to: "contents")
        let check = try runImporter("model", "check", file)
        #expect(check.ending == .exit(65))
        #expect(
            check.outputText.contains("Mood.r (line 11): its destination Contry is not in the model; perhaps Country")
        )
        let source = try directory.write(Self.records, to: "moods.ndjson")
        let store = directory.path("moods.sqlite")
        let result = try run([Project.importer, source, "--into", store, "--entity", "Mood", "--model", file])
        #expect(result.ending == .exit(65) && result.errorText.contains("Mood.r (line 11)"), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    // MARK: Indexes

    /// The indexes of a model are built when a job settles, whatever interrupted it, and not where nothing came.
    @Test func buildsIndexesOfFlatModelsOnce() throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(
            """
            {"entities": {"a": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "n": {"type": "string"}},
              "indexes": [["n"], ["n", "id"], ["id"]]},
              "b": {"attributes": {"x": {"type": "string"}}, "indexes": [["x"]]}}}
            """,
            to: "m.json"
        )
        let first = try directory.write((1...300).map { "{\"id\": \($0), \"n\": \"x\"}\n" }.joined(), to: "1.ndjson")
        let second = try directory.write("{\"id\": 1, \"n\": \"y\"}\n", to: "2.ndjson")
        let store = directory.path("a.sqlite")
        let indexes = "SELECT group_concat(name) FROM sqlite_master WHERE type = 'index' AND tbl_name IN ('a', 'b')"
        for source in [first, second] {
            let command = [Project.importer, source, "--into", store, "--entity", "a", "--model", model]
            #expect(try run(command).ending == .exit(0))
            // The row id is an index already.
            #expect(try StoreContent.query(store, indexes).contains("a_n,a_n_id"))
            #expect(try !StoreContent.query(store, indexes).contains("b_x"))
        }
        // Dropped ones come back, also where the model is the store's own.
        try StoreContent.execute(store, "DROP INDEX a_n")
        let again = try directory.write("{\"id\": 2, \"n\": \"z\"}\n", to: "3.ndjson")
        #expect(try run([Project.importer, again, "--into", store, "--entity", "a"]).ending == .exit(0))
        #expect(try StoreContent.query(store, indexes).contains("a_n"))
        #expect(try runImporter("verify", store, "--quiet").ending == .exit(0))
    }
}

/// The models of public projects, compared with an independent reading of them.
@Suite(.enabled(if: SharedData.isPresent, "the shared data are not there"))
struct RealCoreDataModelTests {
    @Test func saysWhatTheFilesSay() throws {
        for folder in [SharedData.path("core-data-models"), SharedData.path("../cases/relationships")]
        where FileManager.default.fileExists(atPath: folder) {
            let result = try Python.run("core_data_models.py", [Project.importer, folder])
            let lines = result.outputText.split(separator: "\n")
            #expect(
                lines.count == 1 && lines.first?.hasPrefix("wholly ") == true,
                "\(result.outputText)\(result.errorText)"
            )
        }
    }
}
