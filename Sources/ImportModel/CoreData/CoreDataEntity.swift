/// An entity of Core Data while it becomes one of a model file.
struct CoreDataEntity {
    /// What is in the file, with the line where it is.
    struct Names {
        let names: [String]
        let line: Int
    }

    /// By what a property is found in the JSON.
    struct Keys {
        /// One for the property itself, then for each element of a composite that leads to it.
        var steps: [Step]

        struct Step {
            let name: String
            /// The key paths that its userInfo has, in the order in which they count.
            let paths: [String]
        }
    }

    let line: Int
    var description: EntityDescription
    /// Where the properties are, those that are left out too.
    var lines: [String: Int] = [:]
    var keys: [String: Keys] = [:]
    /// The attributes that are marked as the identifier.
    var marked: [String] = []
    /// What libraries say of the identifier: names of attributes.
    var named: [(key: String, names: [String])] = []
    var uniqueness: [Names] = []
    var indexes: [Names] = []
    /// The properties of the file that are not in the description.
    var leftOut: Set<String> = []
    var userInfo: CoreDataUserInfo

    var name: String { description.name }

    init(_ element: XMLElement, name: String) {
        line = element.line
        userInfo = CoreDataUserInfo(of: element)
        description = EntityDescription(name: name, attributes: [])
        description.parent = element["parentEntity"].flatMap { $0.isEmpty ? nil : $0 }
        description.isAbstract = element.isYes("isAbstract")
        description.renamingIdentifier = element["elementID"].flatMap { $0.isEmpty ? nil : $0 }
        uniqueness = element.all("uniquenessConstraints").flatMap { $0.all("uniquenessConstraint") }.map {
            Names(names: $0.all("constraint").compactMap { $0["value"] }, line: $0.line)
        }
        for key in CoreDataUserInfo.identifierKeys {
            if let value = userInfo[key] { named.append((key, CoreDataUserInfo.names(value))) }
        }
    }
}

extension XMLElement {
    /// True if an attribute says `YES`.
    func isYes(_ attribute: String) -> Bool { CoreDataUserInfo.isYes(self[attribute]) }

    /// The digits of a number, as JSON has them; nil where there is none.
    static func digits(_ text: String, isInteger: Bool) -> JSONValue? {
        if isInteger {
            if let value = Int64(text) { return .number("\(value)") }
            guard let value = Double(text), let whole = Int64(exactly: value) else { return nil }
            return .number("\(whole)")
        }
        if text.wholeMatch(of: /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/) != nil { return .number(text) }
        return Double(text).flatMap { $0.isFinite ? .number("\($0)") : nil }
    }
}
