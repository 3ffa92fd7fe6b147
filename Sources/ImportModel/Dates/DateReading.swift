/// What one format makes of a value.
enum DateReading {
    /// A date.
    case date(WrittenDate)
    /// A date that stands for null.
    case minimumDate
    /// A date outside of the years 0001 to 9999.
    case outOfRange
    /// The value has another form.
    case noFit

    /// A date, or nothing.
    init(_ date: WrittenDate?) {
        self = date.map(DateReading.date) ?? .noFit
    }
}
