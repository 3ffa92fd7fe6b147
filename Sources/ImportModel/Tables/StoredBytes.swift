/// What the rows of a BLOB column hold, as far as they were looked at.
package struct StoredBytes: Sendable {
    /// True if there are values, and all have 16 bytes.
    private let areUUIDs: Bool
    /// True if some value is no text.
    private let areBytes: Bool
    /// The forms that all of them have as texts.
    private var forms: StringFormats = .bytes

    package init(_ values: [[UInt8]]) {
        areBytes = values.contains { value in
            String(validating: value, as: UTF8.self) == nil || value.contains { $0 < 0x20 && !(0x09...0x0D ~= $0) }
        }
        areUUIDs = areBytes && values.allSatisfy { $0.count == 16 }
        if values.isEmpty || areBytes { forms = [] }
        for value in values {
            value.withUnsafeBufferPointer { forms = StringFormats.ofBytes(ByteView($0), among: forms) }
        }
    }

    /// The format of the column: what its rows have, or else what all texts have the form of.
    package func format(ofAll texts: StringFormats) -> BinaryFormat {
        if areUUIDs || texts.contains(.uuid) && !forms.contains(.uuid) { return .uuid }
        let base64: StringFormats = [.base64, .base64url]
        let isByChance =
            !texts.isDisjoint(with: StringFormats.all.union(.digits)) || texts.contains(.word) && !areBytes
        if isByChance || texts.isDisjoint(with: base64) || !forms.isDisjoint(with: base64) { return .text }
        return texts.contains(.base64) ? .base64 : .base64url
    }
}
