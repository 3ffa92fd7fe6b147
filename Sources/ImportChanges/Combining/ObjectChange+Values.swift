import ImportEngine
import ImportModel

extension ObjectChange {
    /// True if the change gives an attribute or a reference another value.
    package func says(_ name: String) -> Bool {
        attributes.contains { $0.name.hasSameBytes(as: name) && $0.new != nil }
            || references.contains { $0.name.hasSameBytes(as: name) }
    }

    /// The new value of an attribute, or of a part of the identifier that a reference leads to; nil where nothing is said of it.
    package func value(_ name: String, _ place: Int) -> StoredValue? {
        if let attribute = attributes.first(where: { $0.name.hasSameBytes(as: name) }) { return attribute.new }
        if let part = identifier.values.first(where: { $0.name.hasSameBytes(as: name) }) { return part.value }
        for reference in references where reference.name.hasSameBytes(as: name) {
            switch reference.content {
            case .toOne(_, .object(let object)?):
                return object.values.indices.contains(place) ? object.values[place].value : nil
            case .toOne(_, .null?): return .null
            case .toOne(_, nil), .toMany: return nil
            }
        }
        return nil
    }
}
