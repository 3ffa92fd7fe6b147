/// How many columns of a terminal a text takes.
///
/// A cluster of characters that is shown as one takes the columns of its widest part, two at most (Unicode Standard Annex
/// #11 and #29). The C library's `wcwidth` knows single scalars only, and only those of the process's locale.
enum TextWidth {
    /// The columns that a grapheme cluster takes: 0, 1 or 2.
    static func columns(of cluster: Character) -> Int {
        let scalars = cluster.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if first.value < 0x300 { return scalars.count == 1 ? columns(of: first) : clusterColumns(scalars) }
        return clusterColumns(scalars)
    }

    /// The columns that a text takes.
    static func columns(of text: String) -> Int {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text.utf8.count }
        return text.reduce(0) { $0 + columns(of: $1) }
    }

    /// The beginning of a text that takes at most `columns`, the last of them `…` where something is left out.
    static func cut(_ text: String, to columns: Int) -> String {
        guard Self.columns(of: text) > columns else { return text }
        var result = ""
        var width = 0
        for character in text {
            width += Self.columns(of: character)
            guard width < columns else { break }
            result.append(character)
        }
        return result + "…"
    }

    /// True if every terminal gives the cluster the same width.
    static func isSure(_ cluster: Character) -> Bool {
        let scalars = cluster.unicodeScalars
        guard let first = scalars.first, scalars.count == 1 else { return false }
        // Latin, and the box and block elements.
        return first.value < 0x300 || (0x2500..<0x25A0).contains(first.value)
    }

    private static func clusterColumns(_ scalars: Character.UnicodeScalarView) -> Int {
        var widest = 0
        for scalar in scalars {
            // Asks for the picture of a character that has a plain form too.
            if scalar.value == 0xFE0F, widest > 0 { return 2 }
            widest = max(widest, columns(of: scalar))
            if widest == 2 { return 2 }
        }
        return widest
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x20 || (0x7F..<0xA0).contains(value) || value == 0xAD { return 0 }
        if value < 0x300 { return 1 }
        let properties = scalar.properties
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        // The medial vowels and final consonants of Hangul are below the initial one.
        case .otherLetter where (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value): return 0
        default: break
        }
        if isWide(value) { return 2 }
        return value >= 0x2300 && properties.isEmojiPresentation ? 2 : 1
    }

    /// True if its East Asian width is W or F; emoji are not in the table.
    private static func isWide(_ value: UInt32) -> Bool {
        guard value >= 0x1100 else { return false }
        var (low, high) = (0, wide.count)
        while low < high {
            let middle = (low + high) / 2
            if wide[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < wide.count && wide[low].contains(value)
    }

    /// Ranges of East Asian Width W and F (Unicode 16), without emoji, over code points that are not assigned.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E, 0x3041...0x3247,
        0x3250...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7AF, 0xF900...0xFAFF, 0xFE10...0xFE1F, 0xFE30...0xFE6F,
        0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1D300...0x1D356, 0x1D360...0x1D376, 0x1F200...0x1F265,
        0x20000...0x3FFFD,
    ]
}
