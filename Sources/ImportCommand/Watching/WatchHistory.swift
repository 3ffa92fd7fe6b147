/// How fast an import has been, second by second.
struct WatchHistory: Sendable, Equatable {
    /// So many seconds are kept.
    private static let limit = 600

    /// Records per second, the newest last.
    private(set) var rates: [Double] = []
    private var last: (time: Double, records: Int64)?

    /// Takes the records done at a time, in seconds; seconds that have passed are added.
    mutating func add(records: Int64, at time: Double) {
        guard let last, records >= last.records else {
            self.last = (time, records)
            return
        }
        let span = time - last.time
        guard span >= 1 else { return }
        let rate = Double(records - last.records) / span
        // A watcher that was held up knows the average only.
        rates += Array(repeating: rate, count: min(Int(span), Self.limit))
        if rates.count > Self.limit { rates.removeFirst(rates.count - Self.limit) }
        self.last = (time, records)
    }

    static func == (left: Self, right: Self) -> Bool { left.rates == right.rates }
}
