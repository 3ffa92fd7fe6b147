import Foundation
import GRDB
import ImportModel

/// Decimals, which are stored as texts, taken for the numbers that they are.
enum DecimalText {
    /// Compares decimals as numbers, exactly; a text that is no number comes after all that are.
    ///
    /// Stored decimals have one spelling for each value, so whether they are equal their bytes tell too.
    static let collation = DatabaseCollation("importer_decimal") { one, other in
        order(one, other)
    }

    /// Whether the text is a number as JSON has it.
    static func isNumber(_ text: String) -> Bool {
        withForm(text) { $0 != nil }
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

    /// What the text says as a number that a decimal can hold; nil if it is none.
    private static func withForm<Result>(_ text: String, _ body: (NumberForm?) -> Result) -> Result {
        var text = text
        return text.withUTF8 { buffer in
            guard buffer.baseAddress != nil, let form = NumberForm(ByteView(buffer)), form.fitsDecimal else {
                return body(nil)
            }
            return body(form)
        }
    }
}
