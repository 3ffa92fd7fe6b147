/// Tells objects whose keys are data (ids, languages, days) from objects whose keys are names.
package struct DictionaryKeys {
    /// Why an object's keys look like data.
    package enum Reason: Equatable {
        /// All are numbers, UUIDs or days.
        case ids
        /// All are ISO 639-1 language codes, perhaps with a region.
        case languages
        /// There are many, and each object has few of them.
        case sparse
    }

    /// Looks at all keys that an object ever had.
    ///
    /// - Parameters:
    ///   - keys: the distinct keys.
    ///   - members: how many members the objects had, all together.
    ///   - objects: how many objects there were.
    /// - Returns: why the keys look like data; nil if they look like names.
    package static func reason(keys: [String], members: Int64, objects: Int64) -> Reason? {
        if keys.count >= 2, keys.allSatisfy(isID) { return .ids }
        if keys.count >= 4, keys.allSatisfy(isLanguage) { return .languages }
        // On average less than a fifth of the keys.
        if keys.count > 30, Double(members) < Double(objects) * Double(keys.count) * 0.2 { return .sparse }
        return nil
    }

    /// True if a key is a whole number from 0, a UUID, or an ObjectId (24 hexadecimal digits).
    package static func isRowID(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        func areDigits(_ bytes: some Sequence<UInt8>) -> Bool { bytes.allSatisfy { $0 &- UInt8(ascii: "0") < 10 } }
        if !bytes.isEmpty, areDigits(bytes) { return true }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        let shape = bytes.map { letters.contains($0 | 0x20) || areDigits([$0]) ? UInt8(ascii: "0") : $0 }
        return shape.count == 24 ? shape.allSatisfy { $0 == UInt8(ascii: "0") } : shape.count == 36 && isUUID(shape)
    }

    /// True if a key is a number, a UUID, or begins with a day (`2015-01-31`), or is a month.
    package static func isID(_ key: String) -> Bool {
        var shape = Array(key.utf8)
        for index in shape.indices where shape[index] &- UInt8(ascii: "0") < 10 { shape[index] = UInt8(ascii: "0") }
        if shape.starts(with: "0000-00-00".utf8) {
            return shape.count == 10 || shape[10] == UInt8(ascii: "T") || shape[10] == UInt8(ascii: " ")
        }
        if shape.elementsEqual("0000-00".utf8) || shape.count == 36 && isUUID(shape) { return true }
        if shape.first == UInt8(ascii: "-") { shape.removeFirst() }
        let parts = shape.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count <= 2 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { $0 == UInt8(ascii: "0") } }
    }

    private static func isUUID(_ shape: [UInt8]) -> Bool {
        shape.indices.allSatisfy { index in
            let byte = shape[index]
            if [8, 13, 18, 23].contains(index) { return byte == UInt8(ascii: "-") }
            return byte == UInt8(ascii: "0") || byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "f")
        }
    }

    /// True if a key is `pt`, `pt-BR`, `pt_BR`, `es-419` or `zh-Hant`.
    private static func isLanguage(_ key: String) -> Bool {
        let parts = key.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        guard let language = parts.first, parts.count <= 2, languages.contains(String(language)) else { return false }
        guard parts.count == 2 else { return true }
        let region = parts[1].utf8
        let isDigits = region.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        let isLetters = region.allSatisfy { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") }
        return isLetters && (region.count == 2 || region.count == 4) || isDigits && region.count == 3
    }

    /// ISO 639-1.
    private static let languages: Set<String> = Set(
        """
        aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
        en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu
        ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na
        nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so
        sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
        """
        .split(whereSeparator: \.isWhitespace).map(String.init)
    )
}
