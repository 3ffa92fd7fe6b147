/// Where records are in a document: `$`, `$[*]`, `$.items[*]`, `$.users.*`, `$['639-3'][*]`.
///
/// The notation is the part of JSONPath (RFC 9535) without filters.
public struct RecordPath: Sendable, Hashable {
    /// One step down from a value to its children.
    public enum Step: Sendable, Hashable {
        /// The member of an object with this key.
        case key(String)
        /// Every element of an array.
        case anyElement
        /// Every member of an object.
        case anyMember
    }

    /// The steps from the document inwards; none where each value of a stream is a record.
    public let steps: [Step]

    /// The path of these steps.
    public init(steps: [Step]) {
        self.steps = steps
    }

    /// The value itself: each value of a stream is a record.
    public static let root = RecordPath(steps: [])

    /// Whether the records are an object's members, so that each has a key of its own.
    public var isKeyed: Bool { steps.last == .anyMember }
}
