extension ObjectChange {
    /// The same with what another change says beyond it.
    func joined(with next: ObjectChange) -> ObjectChange {
        var change = self
        for part in next.relationships {
            guard let place = change.relationships.firstIndex(where: { $0.name.hasSameBytes(as: part.name) }),
                case .objects(let own) = change.relationships[place].content, case .objects(let more) = part.content
            else {
                change.relationships.append(part)
                continue
            }
            change.relationships[place].content = .objects(own + more)
        }
        change.moved += next.moved
        change.order += next.order
        return change
    }
}
