/// Where an attribute's value is in its record: `name.full`, `['a.b'].c`, or `$key`.
public struct AttributePath: Sendable, Hashable {
    /// The keys from the record's object inwards; empty means the record itself (a scalar record's `value`).
    public let keys: [String]
    /// Whether this is `$key`, the key under which a keyed record is.
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

    /// The key under which a record of a keyed collection is (`$key`).
    public static let recordKey = AttributePath(recordKey: ())

    /// The record itself (`$`).
    public static let record = AttributePath(keys: [])
}
