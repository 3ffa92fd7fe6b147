import ImportModel
import Importer

/// Stored values and rates as text for the screen.
enum WatchText {
    /// No column is wider, as long as others want to be seen.
    static let widestColumn = 32
    private static let blocks = Array("▁▂▃▄▅▆▇█")
    private static let asciiBlocks = Array("_.-=+*#@")

    /// A value as it is shown; control characters are escaped when it is put on a screen.
    static func text(_ value: Record.Value, of attribute: AttributeDescription) -> String {
        switch value {
        case .null: "NULL"
        case .blob(let bytes): "x'" + bytes.prefix(16).map(hex).joined() + (bytes.count > 16 ? "…" : "'")
        default: TerminalText.escaped(attribute.text(of: value))
        }
    }

    /// The columns that a text wants, up to the widest.
    static func columns(of text: String) -> Int {
        min(TextWidth.columns(of: String(text.prefix(widestColumn + 1))), widestColumn)
    }

    /// True if it is at the right of its column.
    static func isNumber(_ value: Record.Value) -> Bool {
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

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
