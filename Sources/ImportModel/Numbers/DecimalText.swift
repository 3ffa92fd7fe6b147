/// Decimals, which are stored as texts, taken for the numbers that they are.
package enum DecimalText {
    /// True if the text is a number as JSON has it.
    package static func isNumber(_ text: String) -> Bool {
        withForm(text) { $0 != nil }
    }

    /// What the text says as a number that a decimal can hold; nil if it is none.
    package static func withForm<Result>(_ text: String, _ body: (JSONNumber?) -> Result) -> Result {
        var text = text
        return text.withUTF8 { buffer in
            guard buffer.baseAddress != nil, let form = JSONNumber(ByteView(buffer)), form.fitsDecimal else {
                return body(nil)
            }
            return body(form)
        }
    }
}
