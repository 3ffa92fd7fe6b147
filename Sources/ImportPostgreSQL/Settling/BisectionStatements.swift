/// The statements that write the objects of a bucket some of which the server refuses.
///
/// The bucket's keys are numbered from 1, by the first record that each has. They are written a range at a time, so that those
/// that are refused are found by halves; the records of such a key are taken one after the other.
struct BisectionStatements: Sendable {
    /// A statement that writes objects.
    struct Writing: Sendable {
        /// What each row that it has written is counted as.
        enum Count {
            case inserted
            case updated
            /// The turns say it.
            case nothing
        }

        let text: String
        let count: Count
    }

    /// The table of the keys' numbers: each row of the bucket (`tid`), and the number of its key.
    static let keys = "pg_temp._import_key"
    /// Whether a row `p` of it is one of a range: `$1` is its first number, `$2` the one after it.
    static let isInRange = "p.number >= $1::bigint AND p.number < $2::bigint"

    /// What numbers the keys.
    var numbering: [String]
    /// A query for their number.
    var count: String { "SELECT coalesce(max(number), 0) FROM \(Self.keys)" }
    /// What writes the objects of a range of keys.
    var writing: [Writing]

    // MARK: One key

    /// A query for the records of the key `$1` after `_ordinal` `$2` and `_child` `$3`, some of them: `tid`, `_ordinal`, `_child`,
    /// `_unmet`, `is_plain`.
    var records: String {
        """
        SELECT tid::text, _ordinal, _child, _unmet, is_plain FROM \(Self.keys) \
        WHERE number = $1::bigint AND (_ordinal, _child) > ($2::bigint, $3::integer) ORDER BY _ordinal, _child LIMIT 1000
        """
    }
    /// A query for the object that a record, by its `tid` `$1`, is about; nil where there is none before the first record.
    var finding: String?
    /// Inserts the object of the record `$1`; its result is where that is.
    var inserting: String
    /// What merges the record `$1` into its object, which is at `$2` where there was none before: each changes some columns,
    /// and its result is where the object is then.
    var merging: [String]
    /// Forgets what the turns of the records of the key `$1` have come to.
    var forgetting: [String]

    // MARK: The end

    /// Makes a reject of a record: the columns of the bucket's query for rejects.
    static let refusing = """
        INSERT INTO pg_temp._import_refused VALUES ($1::bigint, $2::integer, $3::boolean, $4::text, $5::text, $6::text)
        """
    /// A query for `$1` of the records that the server itself has refused: `_ordinal`, `code`, `expected` and `found`.
    static let refused = """
        SELECT _ordinal, code, expected, found FROM pg_temp._import_refused WHERE code IS NOT NULL \
        ORDER BY _ordinal, _child LIMIT $1
        """
    /// Adds what was inserted and updated.
    static let counting = """
        UPDATE pg_temp._import_counted SET inserted = inserted + $1::bigint, updated = updated + $2::bigint
        """
}
