import ImportModel
import ImportSources

/// Indexes that are built at the end of an import, when the tables are full (`RunOptions.indexes`).
package struct StoreIndexes: Sendable {
    /// The attributes of each index, in its order.
    package let wanted: [[String]]

    package init(wanted: [[String]]) {
        self.wanted = wanted
    }

    /// Makes sure that some entity has the attributes of each index.
    ///
    /// - Parameter model: nil while it is not known; then only what no model could have is found.
    /// - Throws: `ImportError` with `.usage`.
    package func check(_ model: ModelDescription?) throws {
        for names in wanted {
            guard Set(names.map { BytewiseString($0) }).count == names.count, !names.isEmpty else {
                throw ImportError(
                    .optionInvalid,
                    "\(.indexes, names.joined(separator: ",")): an attribute is named twice"
                )
            }
            guard let model, !Self.fits(names, model) else { continue }
            let entities = model.entities.map {
                "\($0.name) has: \($0.attributes.prefix(100).map(\.name).joined(separator: ", "))"
            }
            throw ImportError(
                .unknownAttribute,
                "\(.indexes, names.joined(separator: ",")): no entity has all these attributes\(Self.hint(names, model))",
                advice: "\(entities.joined(separator: "\n"))"
            )
        }
    }

    /// Those that no entity has all attributes of.
    package func missing(in model: ModelDescription) -> [[String]] { wanted.filter { !Self.fits($0, model) } }

    private static func fits(_ names: [String], _ model: ModelDescription) -> Bool {
        model.entities.contains { columns(names, of: $0) != nil }
    }

    /// What was probably meant by the names that no entity has.
    private static func hint(_ names: [String], _ model: ModelDescription) -> String {
        let known = model.entities.flatMap { $0.attributes.map(\.name) }
        let exact = Set(known.map { BytewiseString($0) })
        let near = names.filter { !exact.contains(BytewiseString($0)) }.compactMap {
            NameSuggestion.nearest(to: $0, among: known)
        }
        return near.isEmpty ? "" : "; did you mean \(near.joined(separator: ", "))?"
    }

    package static func columns(_ names: [String], of entity: EntityDescription) -> [String]? {
        let columns = names.compactMap { name in
            entity.attributes.first { BytewiseString($0.name) == BytewiseString(name) }?.column
        }
        return columns.count == names.count ? columns : nil
    }
}
