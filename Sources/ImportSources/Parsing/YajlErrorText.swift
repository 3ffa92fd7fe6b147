/// What yajl finds wrong, in the words of JSON (RFC 8259): its own messages are for those who maintain it.
enum YajlErrorText {
    /// The words for a message of `yajl_get_error`; those that are not known say no more than that it is not JSON.
    ///
    /// - Parameter byte: where it stands; nil where that is not known.
    static func words(for message: String, at byte: UInt8? = nil) -> String {
        var own = Substring(message)
        for heading in ["lexical error: ", "parse error: "] where own.hasPrefix(heading) {
            own.removeFirst(heading.count)
        }
        let words = words[String(own)] ?? "unexpected text"
        switch (own, byte) {
        case ("invalid object key (must be a string)", UInt8(ascii: "}")):
            return "a comma before }, which JSON does not allow"
        case ("unallowed token at this point in JSON text", UInt8(ascii: "]")):
            return "no value before ]: is there a comma too many?"
        case ("unallowed token at this point in JSON text", UInt8(ascii: "}")): return "no value before }"
        default: break
        }
        guard own.hasPrefix("invalid char") || own.hasPrefix("invalid string"), let byte else { return words }
        switch byte {
        case UInt8(ascii: "N"), UInt8(ascii: "I"): return "JSON has no NaN, Infinity or None; write null"
        case UInt8(ascii: "'"): return "texts and keys are in double quotes (from Python, write it with json.dumps)"
        case UInt8(ascii: "T"), UInt8(ascii: "F"), UInt8(ascii: "u"):
            return "expected true, false or null, in small letters"
        default: return words
        }
    }

    /// Every message of yajl 2.1 that a text can bring about (`yajl_lex_error_to_string`, `yajl_do_parse`).
    static let words = [
        "invalid bytes in UTF8 string.": "not UTF-8",
        "inside a string, '\\' occurs before a character which it may not.": "invalid escape in a string",
        "invalid (non-hex) character occurs after '\\u' inside string.": "four hexadecimal digits must follow \\u",
        "invalid character inside string.": "control character in a string, which must be escaped",
        "invalid string in json text.": "expected true, false or null",
        "invalid char in json text.": "unexpected character",
        "malformed number, a digit is required after the exponent.": "a digit must follow the exponent of a number",
        "malformed number, a digit is required after the decimal point.": "a digit must follow the decimal point",
        "malformed number, a digit is required after the minus sign.": "a digit must follow the minus sign",
        "probable comment found in input text, comments are not enabled.": "JSON has no comments",
        "unallowed token at this point in JSON text": "unexpected token",
        "invalid object key (must be a string)": "an object's key must be a string",
        "object key and value must be separated by a colon (':')": "expected ':' after an object's key",
        "after key and value, inside map, I expect ',' or '}'": "expected ',' or '}' after an object's member",
        "after array element, I expect ',' or ']'": "expected ',' or ']' after an array's element",
        "trailing garbage": "text after the value",
        "premature EOF": "the text ends inside a value",
    ]
}
