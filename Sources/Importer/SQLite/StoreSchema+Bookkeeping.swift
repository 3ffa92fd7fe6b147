import GRDB

extension StoreSchema {
    /// The steps to the format that this program writes.
    ///
    /// A change of the bookkeeping is one more step at the end, with a store of the format before it in `Tests/Stores`. Steps
    /// that are there stay as they are: stores have done them.
    static let bookkeeping = Migrator([.format4, .format5, .format6, .format7, .format8, .format9, .format10])

    /// Makes the bookkeeping tables, or brings those of an older format up, in the transaction that is open.
    ///
    /// - Throws: `ImportError` as `checkFormat` does.
    static func prepareBookkeeping(_ database: Database, store: String) throws {
        try bookkeeping.bringUp(database, store: store)
        try MergeLog.prepare(database)
    }

    /// Makes sure that a store's bookkeeping is what this program makes of that format; one of an older format is left as it
    /// is.
    ///
    /// - Throws: `ImportError`: `.cannotCreate` when the store is of a newer format, `.badInput` when its tables are another's,
    ///   `.io` when its format is no number.
    static func checkFormat(_ database: Database, store: String) throws {
        try bookkeeping.check(database, store: store)
    }
}
