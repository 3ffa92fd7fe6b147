/// A model of Core Data as Xcode keeps it: the `contents` of an `.xcdatamodel`, with all that a model file can have of it.
///
/// It is XML without a published schema; what is read is what Xcode writes
/// (<https://developer.apple.com/documentation/coredata/modeling-data>).
public struct CoreDataModel: Sendable {
    /// The same as a model file has it; it passes ``ModelDescription/check(transformers:)``.
    public let model: ModelDescription
    /// What it has not of the file, in the file's order, each at the entity or property that says it (`Person.photo (line 12)`).
    public let notices: [ModelError.Mistake]

    /// How the keys of JSON are made from the names of properties that have none in their `userInfo`.
    public enum KeyStyle: String, Sendable, Hashable, Codable, CaseIterable {
        /// The name itself, else its words in snake_case, else in camelCase: the first key that a record has.
        case any
        /// The name itself.
        case exact
        /// Its words in snake_case.
        case snake
        /// As ``any``; before that, as Sync has it, `NAME_id` and `NAME_ids` for relationships, and `id` for the attribute
        /// `remoteID`, which is the identifier if nothing else is.
        case sync
    }

    /// Reads the file `contents`.
    ///
    /// No entity of XML is expanded and nothing outside of the file is read; a document type declaration is passed over.
    ///
    /// - Parameters:
    ///   - bytes: the file, XML in UTF-8, at most 16 MiB.
    ///   - keyStyle: how the keys of properties are made that have none in their `userInfo`.
    /// - Throws: `ModelError` where it is no such file, or says what no model can be: entities or properties that are there
    ///   twice, destinations, parents or inverses that are not there.
    public init(parsing bytes: [UInt8], keyStyle: KeyStyle = .any) throws(ModelError) {
        let root: XMLElement
        do throws(XMLError) {
            root = try XMLDocument(bytes).root
        } catch {
            let path = error.line.map { "line \($0)" } ?? "the file"
            throw ModelError(mistakes: [ModelError.Mistake(path: path, message: error.message)])
        }
        guard root.name == "model" else {
            let message = "is not a model of Core Data: it begins with <\(root.name)>, not with <model>"
            throw ModelError(mistakes: [ModelError.Mistake(path: "line \(root.line)", message: message)])
        }
        var reader = CoreDataReader(keyStyle: keyStyle)
        model = try reader.model(root)
        notices = reader.findings.notices
    }

    /// The version of a model that `.xccurrentversion` names, as the name of a folder (`Moody 3.xcdatamodel`).
    ///
    /// - Parameter bytes: the file, a property list in XML.
    /// - Returns: nil where it names none, or is no property list in XML.
    public static func currentVersion(in bytes: [UInt8]) -> String? {
        guard let list = try? XMLDocument(bytes).root, list.name == "plist", let dictionary = list.elements.first,
            let key = dictionary.elements.firstIndex(where: { $0.name == "key" && $0.text == "_XCCurrentVersionName" }),
            key + 1 < dictionary.elements.count, dictionary.elements[key + 1].name == "string"
        else { return nil }
        return dictionary.elements[key + 1].text
    }
}
