/// Where a job's split begins: at the first source's first byte, or where an earlier run left it.
package struct SplitStart {
    /// The source's index in the job, from 0.
    package var source = 0
    /// `.start`, or the `end` of the last sealed chunk of this source.
    package var position = SplitPosition.start
    /// The first record's number in the job, from 1.
    package var firstOrdinal: Int64 = 1
    /// The smallest number that the first chunk of a new manifest may have, from 1.
    package var chunkNumber = 1
    /// No chunk but the last may end before this offset of the first source: one is committed up to there.
    package var minimumEnd: Int64?
    /// The names under which outside values are counted so far.
    package var outsideNames: [String] = []

    package init(
        source: Int = 0,
        position: SplitPosition = SplitPosition.start,
        firstOrdinal: Int64 = 1,
        chunkNumber: Int = 1,
        minimumEnd: Int64? = nil,
        outsideNames: [String] = []
    ) {
        self.source = source
        self.position = position
        self.firstOrdinal = firstOrdinal
        self.chunkNumber = chunkNumber
        self.minimumEnd = minimumEnd
        self.outsideNames = outsideNames
    }
}
