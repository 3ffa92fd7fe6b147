extension JSONNumber {
    /// Appends the digits with these numbers, counted from the first significant one.
    func appendDigits(_ range: Range<Int>, to output: inout [UInt8]) {
        // The digits before the point, then those after it.
        let whole = max(0, point - firstDigit)
        let split = min(max(range.lowerBound, whole), range.upperBound)
        output.append(contentsOf: bytes[firstDigit + range.lowerBound..<firstDigit + split].buffer)
        let skipped = firstDigit < point ? 1 : 0
        if split < range.upperBound {
            output.append(
                contentsOf: bytes[firstDigit + split + skipped..<firstDigit + range.upperBound + skipped].buffer
            )
        }
    }
}
