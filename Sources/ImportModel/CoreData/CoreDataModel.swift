/// A Core Data model, read from the `contents` of an `.xcdatamodel`, as far as a model file can have it.
///
/// The file is XML without a published schema; the elements that Xcode writes are read
/// (<https://developer.apple.com/documentation/coredata/modeling-data>).
public struct CoreDataModel: Sendable {
    /// The model in the form of a model file; it passes ``ModelDescription/check(transformers:)``.
    public let model: ModelDescription
    /// The parts of the file that `model` does not have, in the file's order, each at its entity or property (`Person.photo (line 12)`).
    public let notices: [ModelError.Mistake]

    /// The JSON keys of properties that name none in their `userInfo`.
    public enum KeyStyle: String, Sendable, Hashable, Codable, CaseIterable {
        /// The first of these keys that a record has: the name, its words in snake_case, its words in camelCase.
        case any
        /// The name.
        case exact
        /// The words of the name in snake_case.
        case snake
        /// The keys of Sync (`NAME_id` and `NAME_ids` for relationships, and `id` for the attribute `remoteID`, which is the identifier
        /// if there is no other), and then those of ``any``.
        case sync
    }

    /// Reads the file `contents`.
    ///
    /// XML entities are not expanded, nothing outside of the file is read, and a document type declaration is ignored.
    ///
    /// - Parameters:
    ///   - bytes: the file, XML in UTF-8, at most 16 MiB.
    ///   - keyStyle: the JSON keys of properties that name none in their `userInfo`.
    /// - Throws: `ModelError` when the file is not a Core Data model, or has entities or properties twice, or destinations, parents or
    ///   inverses that do not exist.
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
    /// - Returns: nil when the file names no version, or is not a property list in XML.
    public static func currentVersion(in bytes: [UInt8]) -> String? {
        guard let list = try? XMLDocument(bytes).root, list.name == "plist", let dictionary = list.elements.first,
            let key = dictionary.elements.firstIndex(where: { $0.name == "key" && $0.text == "_XCCurrentVersionName" }),
            key + 1 < dictionary.elements.count, dictionary.elements[key + 1].name == "string"
        else { return nil }
        return dictionary.elements[key + 1].text
    }
}
