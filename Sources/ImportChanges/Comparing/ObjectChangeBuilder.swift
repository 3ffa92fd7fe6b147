import ImportEngine

/// What is known so far of an object's change.
struct ObjectChangeBuilder {
    let kind: ObjectChange.Kind
    var attributes: [AttributeChange] = []
    var references: [ReferenceChange] = []
    var relationships: [OwnedChange] = []
    var moved: [MovedObjects] = []
    var order: [OrderChange] = []
    /// True if objects without identifier, which are a value of the object, differ.
    var changesValues = false

    init(_ kind: ObjectChange.Kind) { self.kind = kind }

    var isEmpty: Bool { !changesObject && relationships.isEmpty && moved.isEmpty }

    /// True if the object itself differs.
    var changesObject: Bool { !attributes.isEmpty || !references.isEmpty || !order.isEmpty || changesValues }

    func change(of entity: String, _ identifier: ObjectReference) -> ObjectChange {
        var change = ObjectChange(
            kind,
            entity: entity,
            identifier: identifier,
            attributes: attributes,
            references: references,
            relationships: relationships
        )
        change.moved = moved
        change.order = order
        return change
    }
}

/// The objects that those of an entity own by one relationship, in the order of their owners.
package struct OwnedRows {
    package let owned: ComparedEntity.Owned
    package let rows: StatePair<ComparisonCursor?>
    /// What they own themselves.
    package let nodes: [OwnedRows]
}

extension [OwnedValue] {
    /// The values in an order that depends on nothing else.
    var sortedByContents: [OwnedValue] {
        guard count > 1 else { return self }
        return map { ($0.bytes, $0) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
    }
}

extension OwnedValue {
    /// Bytes that are the same for equal values alone.
    fileprivate var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for attribute in attributes {
            StoredValueWriter.appendPlain(attribute.value, to: &bytes)
            bytes.append(0)
        }
        for reference in references {
            for part in reference.target?.values ?? [] { StoredValueWriter.appendPlain(part.value, to: &bytes) }
            bytes.append(0)
        }
        for list in owned {
            for value in list.values { bytes += value.bytes + [1] }
            bytes.append(2)
        }
        return bytes
    }
}

extension StoredValue {
    /// For messages: on one line, and not too long.
    package var shown: String {
        var bytes: [UInt8] = []
        StoredValueWriter.appendPlain(self, to: &bytes)
        let text = String(decoding: bytes.prefix(200), as: UTF8.self)
        return text.count > 60 ? text.prefix(60) + "…" : text
    }
}
