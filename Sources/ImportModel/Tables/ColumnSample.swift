/// The values, less nulls, in some rows of a column, from which follows how others are to be stored there.
package struct ColumnSample: Sendable {
    private let values: [CoercedJSON]

    package init(_ values: [CoercedJSON]) { self.values = values }

    package var isEmpty: Bool { values.isEmpty }

    /// Texts and BLOBs as bytes, without those that are empty.
    package var bytes: [[UInt8]] {
        values.compactMap { value in
            switch value {
            case .text(let text): text.isEmpty ? nil : Array(text.utf8)
            case .blob(let bytes): bytes.isEmpty ? nil : bytes
            case .integer(let number): Array("\(number)".utf8)
            case .real(let number): Array("\(number)".utf8)
            case .null: nil
            }
        }
    }

    /// The form of most of its dates; `form` where there are no values, nil where most are not dates.
    ///
    /// Numbers are told apart by how large they are: those of Julian days, of seconds since 2001 (at least 1973 in seconds since 1970),
    /// of seconds and of milliseconds since 1970.
    package func formOfDates(else form: StorageForm) -> StorageForm? {
        guard !values.isEmpty else { return form }
        var (numbers, areWhole) = ([Double](), true)
        var counts: [StorageForm?: Int] = [:]
        for value in values {
            switch value {
            case .integer(let number): numbers.append(Double(number))
            case .real(let number):
                numbers.append(number)
                areWhole = areWhole && number == number.rounded()
            case .text(let text):
                counts[Array(text.utf8).withUnsafeBufferPointer { StorageForm(ofDate: $0) }, default: 0] += 1
            case .null, .blob: counts[nil, default: 0] += 1
            }
        }
        if !numbers.isEmpty { counts[Self.form(numbers, areWhole: areWhole), default: 0] += numbers.count }
        // The last in the order of forms, where as many have one as another.
        let order = StorageForm.allCases
        return counts.max { one, other in
            func place(_ form: StorageForm?) -> Int { form.flatMap(order.firstIndex) ?? -1 }
            return (one.value, place(one.key)) < (other.value, place(other.key))
        }?.key
    }

    /// True if there are values, and all are texts of days at midnight: `2015-01-31 00:00:00.000`.
    package var areMidnights: Bool {
        !values.isEmpty
            && values.allSatisfy { value in
                guard case .text(let text) = value else { return false }
                return text.utf8.count > 10 && text.dropFirst(11).hasPrefix("00:00:00")
            }
    }

    private static func form(_ numbers: [Double], areWhole: Bool) -> StorageForm {
        let most = numbers.map(\.magnitude).max() ?? 0
        if numbers.allSatisfy({ (1_721_059...5_373_485).contains($0) }) { return .julianDay }
        if most >= 1e11 { return .unixMilliseconds }
        if most >= 1e8, most < 9e8 { return .referenceDate }
        return areWhole ? .unix : .unixReal
    }

    /// The form of its UUIDs; `form` where there are no values, nil where some are not UUIDs.
    package func formOfUUIDs(else form: StorageForm) -> StorageForm? {
        var counts: [StorageForm: Int] = [:]
        for value in values {
            switch value {
            case .blob(let bytes) where bytes.count == 16: counts[.blob, default: 0] += 1
            case .text(let text):
                let isUUID = Array(text.utf8).withUnsafeBufferPointer { UUIDText(ByteView($0)) != nil }
                guard isUUID, !text.hasPrefix("u"), !text.hasPrefix("U") else { return nil }
                let isUpper = text.utf8.contains { $0 &- UInt8(ascii: "A") < 26 }
                let spelling: StorageForm =
                    text.hasPrefix("{") ? isUpper ? .uppercaseBraces : .braces : isUpper ? .uppercase : .text
                counts[spelling, default: 0] += 1
            default: return nil
            }
        }
        return counts.isEmpty ? form : counts.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }?.key
    }
}
