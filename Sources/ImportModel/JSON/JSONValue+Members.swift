extension JSONValue {
    /// The member of an object with this key: nil where there is none, and in what is not an object.
    ///
    /// Of several members with the same key the last one counts, as it does for an import. Setting it replaces the first and
    /// removes the others; a new one comes last; nil removes all of them. What is not an object stays as it is.
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
