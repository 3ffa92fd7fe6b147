import Testing

@testable import ImportCommand

struct TextWidthTests {
    @Test(
        arguments: [
            ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("a\u{300}\u{301}\u{302}", 1), ("東京", 4), ("서울", 4),
            ("\u{1112}\u{1161}\u{11AB}", 2), ("ｆｕｌｌ", 8), ("ﾊﾝｶｸ", 4), ("🎉", 2), ("👨‍👩‍👧", 2), ("👍🏽", 2), ("🇮🇸", 2),
            ("1️⃣", 2), ("❤️", 2), ("❤", 1), ("…", 1), ("━", 1), ("▸", 1), ("नमस्ते", 3), ("ไทย", 3), ("\u{200B}", 0),
            ("שלום", 4), ("ﷺ", 1), ("𝒳", 1), ("𠀀", 2), ("\u{AD}", 0), ("\u{FEFF}", 0),
        ])
    func isThatOfWhatIsSeen(text: String, columns: Int) {
        #expect(TextWidth.columns(of: text) == columns)
    }
}
