import ImportModel
import Importer

/// An entity of a schema as it is read: with an attribute for each column of its table, in the columns' order.
struct ServerEntity: Sendable {
    let description: EntityDescription
    /// The column of each attribute.
    let columns: [StoredServerColumn]

    /// The entities whose tables are there, as all jobs' models together have them, the last that was used first to count; in the
    /// order in which their tables were first described.
    ///
    /// - Throws: `ImportError` where what the schema keeps cannot be read; `ServerFailure`.
    static func all(_ connection: ServerConnection, label: String) throws -> [ServerEntity] {
        var models: [(text: ExactText, model: ModelDescription)] = []
        for model in try StoredJob.all(connection, label: label).compactMap(\.model) {
            let text = ExactText(model.encoded())
            models.removeAll { $0.text == text }
            models.append((text, model))
        }
        var tables: [ExactText] = []
        var described: [ExactText: EntityDescription] = [:]
        for entity in models.flatMap(\.model.entities) {
            let table = ExactText(entity.table)
            if let earlier = described[table] {
                described[table] = entity.continuing(earlier)
            } else {
                tables.append(table)
                described[table] = entity
            }
        }
        return try tables.compactMap { described[$0] }.compactMap { entity in
            let columns = try StoredServerColumn.all(of: entity.table, connection)
            return columns.isEmpty ? nil : ServerEntity(entity, columns)
        }
    }

    private init(_ described: EntityDescription, _ stored: [StoredServerColumn]) {
        var known: [ExactText: AttributeDescription] = [:]
        for column in ServerColumn.all(of: described) { known[ExactText(column.name)] = column.attribute }
        var names: Set<ExactText> = []
        var description = described
        description.attributes = stored.map { column in
            var attribute = AttributeDescription(name: column.name, type: column.type.attribute, isOptional: true)
            if let found = known[ExactText(column.name)], column.type.holds(ServerType(found)) { attribute = found }
            if column.type == .timestamp { attribute.isWallClock = true }
            // Two models may give one name to several columns.
            while !names.insert(ExactText(attribute.name)).inserted { attribute.name += "_" }
            return attribute
        }
        if !description.identifier.allSatisfy({ names.contains(ExactText($0)) }) { description.identifier = [] }
        description.indexes.removeAll { !$0.allSatisfy { names.contains(ExactText($0)) } }
        self.description = description
        columns = stored
    }

    /// The columns of the attributes with these names.
    ///
    /// - Throws: `ImportError` where there is no such attribute.
    func columns(named names: [String]?) throws -> [ServerTerm] {
        guard let names else {
            return zip(description.attributes, columns).map { ServerTerm(attribute: $0, column: $1) }
        }
        return try names.map { name in
            do throws(UnknownName) {
                return try term(named: name)
            } catch {
                throw name == Self.rowID ? ImportError(error) : ImportError(noAttribute: name, in: description)
            }
        }
    }

    private static let rowID = "rowid"

    /// What a name means in a predicate or a sort.
    func term(named name: String) throws(UnknownName) -> ServerTerm {
        if let place = description.attributes.firstIndex(where: { ExactText($0.name) == ExactText(name) }) {
            return ServerTerm(attribute: description.attributes[place], column: columns[place])
        }
        let names = description.attributes.map(\.name)
        let list = "It has: \(names.prefix(30).joined(separator: ", "))\(names.count > 30 ? ", …" : "")."
        guard name != Self.rowID else {
            throw UnknownName("rows of a server have no row id", advice: "Use an attribute. \(list)")
        }
        let isPath = description.relationships.contains { name == $0.name || name.hasPrefix($0.name + ".") }
        guard !isPath else {
            throw UnknownName("relationships cannot be followed on a server yet", advice: "Use an attribute. \(list)")
        }
        let near = NearName.nearest(to: name, among: names)
        throw UnknownName(
            "\(description.name) has no attribute \(name)\(near.map { "; did you mean \($0)?" } ?? "")",
            advice: list
        )
    }
}
