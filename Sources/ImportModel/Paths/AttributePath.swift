/// Where an attribute's value stands in its record: `name.full`, `['a.b'].c`, or `$key`.
public struct AttributePath: Sendable, Hashable {
    /// The keys from the record's object inwards; empty means the record itself (a scalar record's `value`).
    public let keys: [String]
    /// Whether this is `$key`, the key under which a keyed record stands.
    public let isRecordKey: Bool

    /// The path of these keys; none for the record itself.
    public init(keys: [String]) {
        self.keys = keys
        isRecordKey = false
    }

    private init(recordKey: Void) {
        keys = []
        isRecordKey = true
    }

    /// The key under which a record of a keyed collection stands (`$key`).
    public static let recordKey = AttributePath(recordKey: ())

    /// The record itself (`$`).
    public static let record = AttributePath(keys: [])
}
