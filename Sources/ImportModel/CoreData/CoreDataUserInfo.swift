/// What people and import libraries have written beside an entity, attribute or relationship in Xcode.
struct CoreDataUserInfo {
    private var entries: [(key: String, value: String)] = []

    /// - Parameter element: the entity or property that has it.
    init(of element: XMLElement) {
        for entry in element.all("userInfo").flatMap({ $0.all("entry") }) {
            guard let key = entry["key"], !entries.contains(where: { $0.key.hasSameBytes(as: key) }) else { continue }
            entries.append((key, entry["value"] ?? ""))
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The value of a key; nil where there is none.
    subscript(key: String) -> String? { entries.first { $0.key.hasSameBytes(as: key) }?.value }

    /// Takes what has been understood from what is kept.
    mutating func remove(_ key: String) { entries.removeAll { $0.key.hasSameBytes(as: key) } }

    /// The rest; nil where there is none.
    var json: JSONValue? {
        if entries.isEmpty { return nil }
        return JSONValue(entries.map { ($0.key, .string($0.value)) })
    }

    /// The keys by which libraries say where in the JSON a value is: MagicalRecord, Sync, Groot and others, in the order in
    /// which they count.
    static let pathKeys =
        ["mappedKeyName"] + (1...9).map { "mappedKeyName.\($0)" } + [
            "sync.remoteKey", "hyper.remoteKey", groot, "importKey", "importKeyPath", "jsonKey", "remoteKey",
        ]
    /// With it anywhere in a model, what has no key is not in the JSON.
    static let groot = "JSONKeyPath"
    /// The keys by which libraries name the identifier of an entity.
    static let identifierKeys = ["id", "identityAttributes", "identityAttribute", "relatedByAttribute"]
    /// The keys by which libraries mark the attribute that is the identifier.
    static let markKeys = ["sync.isPrimaryKey", "hyper.isPrimaryKey"]

    /// True if a value says yes.
    static func isYes(_ value: String?) -> Bool { ["yes", "true", "1"].contains(value?.lowercased() ?? "") }

    /// The names in a value, with commas or spaces between them.
    static func names(_ value: String) -> [String] {
        value.split { $0 == "," || $0.isWhitespace }.map(String.init)
    }
}
