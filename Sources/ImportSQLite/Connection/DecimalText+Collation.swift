import Foundation
import GRDB
import ImportEngine
import ImportModel

extension DecimalText {
    /// Compares decimals as numbers, exactly; a text that is no number comes after all that are.
    ///
    /// Stored decimals have one spelling for each value, so whether they are equal their bytes tell too.
    package static let collation = DatabaseCollation("importer_decimal") { one, other in
        order(one, other)
    }

    private static func order(_ one: String, _ other: String) -> ComparisonResult {
        withForm(one) { form in
            withForm(other) { otherForm in
                switch (form, otherForm) {
                case (let form?, let otherForm?):
                    form.isLess(than: otherForm)
                        ? .orderedAscending
                        : otherForm.isLess(than: form) ? .orderedDescending : .orderedSame
                case (.some, nil): .orderedAscending
                case (nil, .some): .orderedDescending
                case (nil, nil): byteOrder(one, other)
                }
            }
        }
    }

    private static func byteOrder(_ one: String, _ other: String) -> ComparisonResult {
        if one.utf8.lexicographicallyPrecedes(other.utf8) { return .orderedAscending }
        return other.utf8.lexicographicallyPrecedes(one.utf8) ? .orderedDescending : .orderedSame
    }
}
