import ImportEngine
import ImportModel
import ImportSources

/// How the rows of an entity in a store belong together with those of others, by the models of its jobs.
struct ExistingEntityLinks {
    /// Why an inferred model cannot continue the entity; nil where it can.
    let obstacle: ExistingEntity.Obstacle?
    /// Of all entities; nil where none relates to another.
    private let layout: ModelLayout?

    /// - Parameters:
    ///   - root: the entity of records.
    ///   - all: those that the store's models describe.
    init(of root: EntityDescription, among all: [EntityDescription]) {
        let parent = all.first { entity in
            entity.relationships.contains { relationship in
                Self.isList(relationship, to: root)
                    && BytewiseString(relationship.destination) == BytewiseString(root.name)
            }
        }
        var (found, next, names) = ([root], [root], [] as [String])
        while let entity = next.popLast() {
            for relationship in entity.relationships {
                let destination = all.first { BytewiseString($0.name) == BytewiseString(relationship.destination) }
                guard let destination, Self.isList(relationship, to: destination),
                    !found.contains(where: { BytewiseString($0.name) == BytewiseString(destination.name) })
                else {
                    names.append("\(entity.name).\(relationship.name)")
                    continue
                }
                found.append(destination)
                next.append(destination)
            }
        }
        let relates = root.parent != nil || root.isAbstract || root.subentity != nil
        if let parent {
            obstacle = .nested(in: parent.name)
        } else if relates || !names.isEmpty {
            obstacle = .relationships(names)
        } else {
            obstacle = nil
        }
        let model = ModelDescription(entities: all)
        // Models of several jobs need not fit together: what is left then is what SQLite says of the columns.
        layout = model.isFlat ? nil : try? ModelLayout(model)
    }

    /// True if a relationship is one that inference makes: a list of objects that belong to the one around them.
    private static func isList(_ relationship: RelationshipDescription, to destination: EntityDescription) -> Bool {
        guard relationship.isToMany, relationship.inverse == nil, relationship.from.count == 1,
            case .value = relationship.from[0]
        else { return false }
        return destination.identifier.isEmpty && destination.records == nil && destination.parent == nil
            && !destination.isAbstract && destination.subentity == nil
    }

    /// The columns by which rows of an entity are referred to, or refer to others.
    func links(of entity: EntityDescription) -> [String] {
        guard let layout, let index = layout.hierarchy.index(of: entity.name) else { return [] }
        let table = layout.tables.first { $0.name == layout.table(of: index) }
        return table?.columns.filter { $0.role != .attribute }.map(\.name) ?? []
    }

    /// True if the rows of an entity without identifier have a key of their own.
    func hasRowID(_ entity: EntityDescription) -> Bool {
        guard let layout, let index = layout.hierarchy.index(of: entity.name) else { return false }
        return layout.rowIDColumn(of: index) != nil
    }
}
