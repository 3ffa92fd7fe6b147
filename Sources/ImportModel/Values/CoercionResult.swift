/// What became of a value, and what that changed.
public struct CoercionResult: Sendable, Hashable {
    /// The value as the store keeps it.
    public let value: CoercedJSON
    /// What the ledger counts for it.
    public let ledger: [LedgerKind]
}
