/// The path of records in a document: `$`, `$[*]`, `$.items[*]`, `$.users.*`, `$['639-3'][*]`.
///
/// The notation is the part of JSONPath (RFC 9535) without filters.
public struct RecordPath: Sendable, Hashable {
    /// One step down from a value to its children.
    public enum Step: Sendable, Hashable {
        /// The member of an object with the given key.
        case key(String)
        /// Every element of an array.
        case anyElement
        /// Every member of an object.
        case anyMember
    }

    /// The steps from the document inwards; none if each value of a stream is a record.
    public let steps: [Step]

    /// Creates a path of steps.
    public init(steps: [Step]) {
        self.steps = steps
    }

    /// The value itself: each value of a stream is a record.
    public static let root = RecordPath(steps: [])

    /// True if the records are an object's members, so that each has a key.
    public var isKeyed: Bool { steps.last == .anyMember }

    /// The number of keys that lead to a record and are not in the path: one for each `.*`.
    public var keyCount: Int { steps.count { $0 == .anyMember } }

    /// The key before the `.*` at a level, counted outwards from the innermost one (0), arrays between them aside: `files` in
    /// `$.files.*.functions.*` for the first; nil where there is none.
    package func name(ofKey level: Int) -> String? {
        let places = steps.indices.filter { steps[$0] == .anyMember }
        guard level < places.count else { return nil }
        let before = steps[..<places[places.count - 1 - level]].last { $0 != .anyElement }
        if case .key(let name)? = before { return name }
        return nil
    }
}
