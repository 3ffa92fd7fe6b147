import ImportModel
import ImportSources

/// What bounds the memory and the outcome of inference.
///
/// Two statistics are merged only under the same limits.
///
/// Each object is charged for the keys below it, at any depth: one unit per key and one more per 64 bytes of it. An object
/// with too many keys of its own is *full*: it becomes JSON for good, and what was gathered below it is dropped. An object
/// that reaches its limit by what is in the objects in it is *closed*: its own keys and the small objects in it stay, the
/// others are full; and so is itself if there are many. The object around a closed one is charged for its limit, and so is
/// that around a full one, or for the most keys of its own where there never was an object or array in it. So a charge only
/// ever grows with the records that were seen, an object that is full or closed in a part is so in the whole, and the outcome
/// does not depend on how records were divided. For an object to outlive full ones inside of it, the limits shrink with depth.
package struct InferenceLimits: Sendable, Hashable {
    /// The charge at which an object is closed, by depth; the record itself first, the last one for all deeper objects.
    var charges = [96_000, 48_000, 24_000, 12_000, 6_000, 3_000, 1_900, 1_400, 1_100]
    /// With more direct keys than this, long ones counted as several, an object is full.
    package var keys = 1_000
    /// With more direct keys than this, the record is full.
    var recordKeys = 1_900
    /// With more objects in it than this, a closed object is full.
    var closedObjects = 64
    /// The charge up to which objects in a closed one stay what they are.
    var closedCharge = 16
    /// Objects at this depth and deeper are JSON; the record has depth 0.
    var depth = 32
    /// While there are more columns, objects are made JSON, the one with the most keys first.
    package var columns = 1_000
    /// With more arrays of objects than this, an entity's arrays stay JSON.
    package var lists = 100
    /// How many values of an attribute are kept to see whether they repeat.
    var sampledValues = 2_048
    /// With more keys than this, records are not searched for identifiers.
    var sampledKeys = 512
    /// While the record is charged with more than this, the objects in its arrays are not searched for identifiers.
    var sampledCharge = 2_048
    /// How many values of an attribute of theirs are kept to see whether they repeat.
    var sampledElements = 512
    /// How many levels of arrays are looked into: with 0, an array is a value like any other.
    var arrayLevels = 0
    /// True if an object of Extended JSON counts as what is in it.
    var unwraps = true
    /// Texts that count as null.
    var nullTexts = NullTexts(nil)
    /// Which forms of strings are looked for.
    package var forms = StringFormats.all

    /// The charge at which an object at `depth` is closed.
    @inline(__always)
    func charge(depth: Int) -> Int {
        charges[min(depth, charges.count - 1)]
    }

    /// How many direct keys an object at `depth` may have.
    @inline(__always)
    package func keys(depth: Int) -> Int {
        depth == 0 ? recordKeys : keys
    }

    /// What one key of this length costs.
    @inline(__always)
    package static func cost(ofKeyLength length: Int) -> Int {
        1 + length / 64
    }
}
