/// The numbers of the chunks whose names a manifest has reserved, range after range.
///
/// A range is on the disk before the first file with one of its names is made. It leaves out the names that files of
/// others have.
package struct ReservedChunkNumbers: Sendable, Hashable {
    /// No chunk has a larger number.
    package static let most = 1 << 40
    private static let fewestAtOnce = 64
    private static let mostAtOnce = 4096

    /// In ascending order; none begins right where another ends.
    package private(set) var ranges: [ClosedRange<Int>] = []

    package init() {}

    /// True if the chunk's name is reserved.
    package func contains(_ number: Int) -> Bool {
        ranges.last { $0.lowerBound <= number }?.contains(number) ?? false
    }

    /// Takes in a range that follows the others; false if it does not.
    package mutating func append(_ range: ClosedRange<Int>) -> Bool {
        guard let last = ranges.last else {
            ranges = [range]
            return true
        }
        guard range.lowerBound > last.upperBound else { return false }
        if range.lowerBound == last.upperBound + 1 {
            ranges[ranges.count - 1] = last.lowerBound...range.upperBound
        } else {
            ranges.append(range)
        }
        return true
    }

    /// The smallest reserved number from `number` on that no file of others has; nil where there is none.
    package func next(from number: Int, besides taken: Set<Int>) -> Int? {
        for range in ranges where range.upperBound >= number {
            if let next = (max(number, range.lowerBound)...range.upperBound).first(where: { !taken.contains($0) }) {
                return next
            }
        }
        return nil
    }

    /// Reserves more names.
    ///
    /// - Parameters:
    ///   - number: the smallest number that the next chunk may have; those that are reserved are smaller.
    ///   - taken: the numbers whose names files of others have.
    /// - Returns: the range that was reserved.
    package mutating func reserve(from number: Int, besides taken: Set<Int>) -> ClosedRange<Int> {
        var first = min(max(number, (ranges.last?.upperBound ?? 0) + 1), Self.most)
        while taken.contains(first) { first += 1 }
        let wanted = first + max(Self.fewestAtOnce, min(first, Self.mostAtOnce)) - 1
        let last = taken.filter { first...wanted ~= $0 }.min().map { $0 - 1 } ?? wanted
        _ = append(first...last)
        return first...last
    }
}
