/// A coerced value, and what coercion changed.
public struct CoercionResult: Sendable, Hashable {
    /// The value as it is stored.
    public let value: CoercedJSON
    /// The entries that the ledger counts for it.
    public let ledger: [LedgerKind]
}
