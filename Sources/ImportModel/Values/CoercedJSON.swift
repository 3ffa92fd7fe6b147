/// A value as it is stored.
public enum CoercedJSON: Sendable, Hashable {
    /// NULL.
    case null
    /// INTEGER: integers, booleans and bitfields; dates that are stored as numbers.
    case integer(Int64)
    /// REAL: floats and doubles.
    case real(Double)
    /// TEXT: everything else, in its canonical form.
    case text(String)
    /// BLOB: binaries.
    case blob([UInt8])
}
