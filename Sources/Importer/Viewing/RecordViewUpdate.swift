/// One step of a view: what it shows now, and how that came out of what it showed before.
public struct RecordViewUpdate: Sendable, Hashable {
    /// What makes the snapshot before this one.
    public let changes: RecordViewChanges
    /// What the view shows now.
    public let snapshot: RecordViewSnapshot
}
