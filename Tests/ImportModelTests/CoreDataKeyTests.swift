import Testing

@testable import ImportModel

/// By what the properties of Core Data models are found in JSON.
struct CoreDataKeyTests {
    private func paths(_ property: String, beside: String = "", _ style: CoreDataModel.KeyStyle) throws -> [String] {
        let text = "<model><entity name=\"E\">\(property)\(beside)</entity></model>"
        let entity = try CoreDataModel(parsing: Array(text.utf8), keyStyle: style).model.entities[0]
        if let attribute = entity.attributes.first { return attribute.from.map(\.description) }
        return entity.relationships[0].from.map { if case .value(let path) = $0 { path.description } else { "?" } }
    }

    private func attribute(_ name: String, _ userInfo: [(String, String)] = []) -> String {
        let entries = userInfo.map { "<entry key=\"\($0.0)\" value=\"\($0.1)\"/>" }.joined()
        return "<attribute name=\"\(name)\" attributeType=\"String\"><userInfo>\(entries)</userInfo></attribute>"
    }

    @Test(arguments: [
        (
            "numericISO3166Code", CoreDataModel.KeyStyle.any,
            ["numericISO3166Code", "numeric_iso3166_code", "numericIso3166Code"]
        ),
        ("name", .any, ["name"]), ("first_name", .any, ["first_name", "firstName"]), ("URL", .any, ["URL", "url"]),
        ("remoteID", .exact, ["remoteID"]), ("remoteID", .snake, ["remote_id"]),
        ("remoteID", .sync, ["id", "remoteID", "remote_id", "remoteId"]),
        ("createdAt", .sync, ["createdAt", "created_at"]), ("ImageId", .snake, ["image_id"]),
    ])
    func spellsNames(name: String, style: CoreDataModel.KeyStyle, keys: [String]) throws {
        #expect(try paths(attribute(name), style) == keys)
    }

    @Test func namesIdentifiersOfRelationshipsAsSyncDoes() throws {
        let toMany = "<relationship name=\"blogPosts\" toMany=\"YES\" destinationEntity=\"E\"/>"
        let toOne = "<relationship name=\"blogPost\" maxCount=\"1\" destinationEntity=\"E\"/>"
        #expect(try paths(toMany, .sync) == ["blog_posts_ids", "blogPosts", "blog_posts"])
        #expect(try paths(toOne, .sync) == ["blog_post_id", "blogPost", "blog_post"])
        #expect(try paths(toOne, .snake) == ["blog_post"])
    }

    /// Another property's own name is not taken for a spelling of this one's.
    @Test func leavesEachPropertyItsName() throws {
        #expect(try paths(attribute("userName"), beside: attribute("user_name"), .any) == ["userName"])
        let mapped = attribute("other", [("importKey", "user_name")])
        #expect(try paths(attribute("userName"), beside: mapped, .any) == ["userName"])
    }

    @Test(arguments: [
        ([("mappedKeyName", "a.b"), ("mappedKeyName.1", "c")], ["a.b", "c"]),
        ([("mappedKeyName.2", "x"), ("mappedKeyName", "y")], ["y", "x"]),
        ([("sync.remoteKey", "_id")], ["_id"]), ([("hyper.remoteKey", "k")], ["k"]),
        ([("JSONKeyPath", "j.k")], ["j.k"]),
        ([("importKey", "i")], ["i"]), ([("importKeyPath", "i.k")], ["i.k"]), ([("jsonKey", "j")], ["j"]),
        ([("remoteKey", "r"), ("mappedKeyName", "m")], ["m", "r"]), ([("importKey", "a..b")], ["name"]),
    ])
    func readsWhatLibrariesSayOfKeys(userInfo: [(String, String)], keys: [String]) throws {
        #expect(try paths(attribute("name", userInfo), .exact) == keys)
    }

    @Test func readsNothingElseWhereGrootSaysWhatIsThere() throws {
        let beside = attribute("played", [("JSONKeyPath", "p")])
        #expect(try paths(attribute("name"), beside: beside, .any) == [])
        #expect(try paths(attribute("name", [("importKey", "n")]), beside: beside, .any) == ["n"])
    }

    @Test func keepsTheRestOfUserInfo() throws {
        let text = """
            <model><entity name="E"><attribute name="d" attributeType="Date"><userInfo><entry key="dateFormat" value="UnixTime"/>
            <entry key="note" value="&lt;x&gt;"/></userInfo></attribute>
            <relationship name="r" maxCount="1" destinationEntity="E"><userInfo><entry key="relatedByAttribute" value="d"/>
            </userInfo></relationship>
            <relationship name="s" maxCount="1" destinationEntity="E"><userInfo><entry key="relatedByAttribute" value="z"/>
            </userInfo></relationship><userInfo><entry key="color" value="red"/></userInfo></entity></model>
            """
        let file = try CoreDataModel(parsing: Array(text.utf8))
        let entity = file.model.entities[0]
        #expect(entity.attributes[0].formats == ["unix"])
        #expect(entity.attributes[0].userInfo?.serialized() == #"{"note":"<x>"}"#)
        #expect(entity.relationships[0].by == ["d"] && entity.relationships[0].userInfo == nil)
        #expect(entity.relationships[1].by.isEmpty && entity.relationships[1].userInfo?["relatedByAttribute"] != nil)
        #expect(file.notices.map(\.path) == ["E.s (line 5)"])
        #expect(entity.userInfo?.serialized() == #"{"color":"red"}"#)
        // A file holds all of it.
        #expect(try ModelDescription(parsing: Array(file.model.encoded().utf8)) == file.model)
    }

    /// The format is that of the JSON; the dates in the model are seconds.
    @Test(arguments: ["dd/MM/yyyy", "UnixTime"]) func keepsTheModelsOwnDatesBesideAFormat(format: String) throws {
        let text = """
            <model><entity name="E"><attribute name="d" attributeType="Date" defaultDateTimeInterval="0" minDateTimeInterval="-86400">
            <userInfo><entry key="dateFormat" value="\(format)"/></userInfo></attribute></entity></model>
            """
        let file = try CoreDataModel(parsing: Array(text.utf8))
        let attribute = file.model.entities[0].attributes[0]
        #expect(attribute.defaultValue == .string("2001-01-01T00:00:00.000Z"))
        #expect(attribute.validation.minimum == .string("2000-12-31T00:00:00.000Z"))
        #expect(attribute.formats.count == 2 && file.notices.isEmpty)
    }

    @Test func takesSyncsIdentifierWhereNothingElseIsSaid() throws {
        let text =
            "<model><entity name=\"E\"><attribute name=\"remoteID\" optional=\"YES\" attributeType=\"Integer 64\"/></entity></model>"
        let read = { style in try CoreDataModel(parsing: Array(text.utf8), keyStyle: style).model.entities[0].identifier
        }
        #expect(try read(.sync) == ["remoteID"])
        #expect(try read(.any).isEmpty)
    }
}
