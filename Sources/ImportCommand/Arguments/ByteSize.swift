import ArgumentParser

/// A number of bytes as people type it: `4096`, `512K`, `8M`, `1G`, with 1024 to the K.
struct ByteSize: Hashable, ExpressibleByArgument, CustomStringConvertible {
    let count: Int

    init(count: Int) {
        self.count = count
    }

    init?(argument: String) {
        var digits = Substring(argument.uppercased())
        if digits.hasSuffix("IB") { digits = digits.dropLast(2) } else if digits.hasSuffix("B") { digits.removeLast() }
        var shift = 0
        if let unit = digits.last, let index = "KMG".firstIndex(of: unit) {
            shift = 10 * ("KMG".distance(from: "KMG".startIndex, to: index) + 1)
            digits.removeLast()
        }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits) else {
            return nil
        }
        let (count, overflows) = number.multipliedReportingOverflow(by: 1 << shift)
        guard !overflows else { return nil }
        self.count = count
    }

    /// As it would be typed.
    var description: String {
        for (shift, unit) in [(30, "G"), (20, "M"), (10, "K")] where count > 0 && count % (1 << shift) == 0 {
            return "\(count >> shift)\(unit)"
        }
        return "\(count)"
    }

    var defaultValueDescription: String { description }
}
