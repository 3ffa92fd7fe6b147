/// Names that say that their values identify something.
package enum IdentifierName {
    /// True if a name ends with a word of identifiers (`id`, `product_id`, `orderNo`, `isbn13`), or is such a word behind the
    /// entity's own name (`personid` of `persons`).
    package static func isLikely(_ name: String, of entity: String) -> Bool {
        var words = words(of: name)
        if words.count > 1, words.last == "str" { words.removeLast() }
        guard let last = words.last else { return false }
        if Self.words.contains(last) { return true }
        let (whole, own) = (words.joined(), self.words(of: entity).joined())
        return ["id", "uid", "uuid", "key", "code", "no", "number"].contains { word in
            guard last.hasSuffix(word) else { return false }
            let base = whole.dropLast(word.count)
            return !base.isEmpty && (own == base || own == base + "s" || own == base + "es")
                || base.hasSuffix("y") && own == base.dropLast() + "ies"
        }
    }

    /// What a name of one word must be, and one of several end with.
    private static let words: Set<String> = [
        "id", "oid", "uid", "uuid", "guid", "ulid", "objectid", "globalid", "geoid", "pk", "key", "code", "no", "nr",
        "num", "number", "ref", "reference", "slug", "sku", "isbn", "issn", "isin", "ean", "gtin", "upc", "asin", "doi",
        "iban", "vin", "imei", "lei",
    ]

    /// The words of a name in lower case, less digits behind them: of `orderNo`, `order_no`, `Order No.` and `ORDER-NO2`
    /// `order` and `no`.
    private static func words(of name: String) -> [String] {
        var words: [[UInt8]] = [[]]
        let bytes = Array(name.utf8)
        func isCapital(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "A") < 26 }
        func isLetter(_ byte: UInt8) -> Bool { byte | 0x20 &- UInt8(ascii: "a") < 26 || byte >= 0x80 }
        for (index, byte) in bytes.enumerated() {
            guard isLetter(byte) else {
                words.append([])
                continue
            }
            if isCapital(byte), index > 0 {
                let follows = isLetter(bytes[index - 1]) && !isCapital(bytes[index - 1])
                let isFirst = index + 1 < bytes.count && isLetter(bytes[index + 1]) && !isCapital(bytes[index + 1])
                if follows || isFirst && isCapital(bytes[index - 1]) { words.append([]) }
            }
            words[words.count - 1].append(isCapital(byte) ? byte | 0x20 : byte)
        }
        return words.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }
}
