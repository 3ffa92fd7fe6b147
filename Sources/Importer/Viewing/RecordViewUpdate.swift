/// An update of a view: its new snapshot, and the changes from the one before.
public struct RecordViewUpdate: Sendable, Hashable {
    /// The changes from the snapshot before.
    public let changes: RecordViewChanges
    /// The new snapshot.
    public let snapshot: RecordViewSnapshot
}
