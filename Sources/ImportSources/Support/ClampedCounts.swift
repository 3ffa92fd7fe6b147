/// Counts that were read from a store may be any numbers, if it is damaged; adding them ends at the largest or smallest one.
extension FixedWidthInteger where Self: SignedInteger {
    @inlinable package func addingClamped(_ other: Self) -> Self {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? (other < 0 ? .min : .max) : sum
    }

    @inlinable package func subtractingClamped(_ other: Self) -> Self {
        let (difference, isOver) = subtractingReportingOverflow(other)
        return isOver ? (other < 0 ? .max : .min) : difference
    }
}
