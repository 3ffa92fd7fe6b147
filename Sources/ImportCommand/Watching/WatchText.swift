import Importer

/// Stored values and rates as text for the screen.
enum WatchText {
    /// No column is wider, as long as others want to be seen.
    static let widestColumn = 32
    private static let blocks = Array("▁▂▃▄▅▆▇█")
    private static let asciiBlocks = Array("_.-=+*#@")

    /// A value as it is shown; control characters are escaped when it is put on a screen.
    static func text(_ value: StoreWindow.Value) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let bytes): TerminalText.escaped(whole(bytes))
        case .blob(let bytes): "x'" + bytes.prefix(16).map(hex).joined() + (bytes.count > 16 ? "…" : "'")
        }
    }

    /// The columns that it wants, up to the widest.
    static func columns(of value: StoreWindow.Value) -> Int { columns(of: text(value)) }

    static func columns(of text: String) -> Int {
        min(TextWidth.columns(of: String(text.prefix(widestColumn + 1))), widestColumn)
    }

    /// Whether it stands at the right of its column.
    static func isNumber(_ value: StoreWindow.Value) -> Bool {
        switch value {
        case .integer, .real: true
        default: false
        }
    }

    /// The newest of `rates` as blocks, the fastest of them the highest.
    static func plot(_ rates: [Double], columns: Int, isUnicode: Bool) -> String {
        let shown = rates.suffix(max(columns, 0))
        let blocks = isUnicode ? Self.blocks : asciiBlocks
        guard let most = shown.max(), most > 0 else { return String(repeating: blocks[0], count: shown.count) }
        return String(
            shown.map { rate in
                // The lowest is for nothing at all.
                rate > 0 ? blocks[min(max(Int((rate / most * 7).rounded(.up)), 1), 7)] : blocks[0]
            }
        )
    }

    /// Text without a last character that was cut in its middle.
    private static func whole(_ bytes: [UInt8]) -> String {
        var end = bytes.count
        var back = 0
        while back < 3, end > 0, bytes[end - 1] & 0xC0 == 0x80 {
            end -= 1
            back += 1
        }
        if end > 0, bytes[end - 1] >= 0xC0 {
            let length = bytes[end - 1] >= 0xF0 ? 4 : bytes[end - 1] >= 0xE0 ? 3 : 2
            if length == back + 1 { end += back } else { end -= 1 }
        } else {
            end = bytes.count
        }
        return String(decoding: bytes[..<end], as: UTF8.self)
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
