extension ObjectChange {
    /// Adds what another change of the same object says beyond it.
    package mutating func join(_ next: ObjectChange) {
        for part in next.relationships {
            guard let place = relationships.firstIndex(where: { $0.name.hasSameBytes(as: part.name) }),
                case .objects(var all) = relationships[place].content, case .objects(let more) = part.content
            else {
                relationships.append(part)
                continue
            }
            // What is added to is not to be copied.
            relationships[place].content = .objects([])
            all += more
            relationships[place].content = .objects(all)
        }
        moved += next.moved
        order += next.order
    }
}
