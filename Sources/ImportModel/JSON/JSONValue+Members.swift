extension JSONValue {
    /// The value of an object's member with the given key; nil if there is none, or the value is not an object.
    ///
    /// Of several members with the same key, the last one is used, as in an import. Setting a value replaces the first and removes the
    /// others; a new member is appended; nil removes all of them. A value that is not an object does not change.
    public subscript(key: String) -> JSONValue? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.last { $0.key.utf8.elementsEqual(key.utf8) }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            let index = members.firstIndex { $0.key.utf8.elementsEqual(key.utf8) } ?? members.count
            members.removeAll { $0.key.utf8.elementsEqual(key.utf8) }
            if let newValue { members.insert(Member(key: key, value: newValue), at: index) }
            self = .object(members)
        }
    }
}
