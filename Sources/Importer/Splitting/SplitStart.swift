/// Where a job's split begins: at the first source's first byte, or where an earlier run left it.
struct SplitStart {
    /// The source's index in the job, from 0.
    var source = 0
    /// `.start`, or the `end` of the last sealed chunk of this source.
    var position = SplitPosition.start
    /// The first record's number in the job, from 1.
    var firstOrdinal: Int64 = 1
    /// The smallest number that the first chunk of a new manifest may have, from 1.
    var chunkNumber = 1
    /// No chunk but the last may end before this offset of the first source: one is committed up to there.
    var minimumEnd: Int64?
    /// The names under which outside values are counted so far.
    var outsideNames: [String] = []
}
