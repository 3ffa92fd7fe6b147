import Foundation
import ImportEngine
import ImportSources
import TestSupport
import Testing

/// What the bookkeeping keeps of a source is read as any JSON would be, or left to a decoder.
struct SourceDescriptionTests {
    private static let names = [
        "a.json", "dir/\u{E9}\u{1F389}.ndjson", "a \"b\".json", "tab\t.json", "back\\slash", "",
    ]

    private func decoded(_ text: String) -> SourceDescription? {
        try? JSONDecoder().decode(SourceDescription.self, from: Data(text.utf8))
    }

    @Test func plainDescriptionsAreReadAsTheyWere() throws {
        var read = 0
        for seed in 0..<1_000 {
            var random = SeededGenerator(seed: UInt64(seed))
            func some<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
            let name = Self.names.randomElement(using: &random) ?? ""
            var source = SourceDescription(
                name: name,
                path: some("/" + name),
                member: some("member.json").flatMap { some($0) }.flatMap { some($0) },
                size: some(.random(in: 0...(.max), using: &random)),
                modified: some(.random(in: -9...1_700_000_000_123_456_789, using: &random)),
                changed: some(1),
                inode: some(.max),
                isCompressed: .random(using: &random),
                fingerprint: some("0123456789abcdef")
            )
            source.opening = some("fedcba9876543210")
            source.end = some(.random(in: 0...(1 << 53), using: &random))
            source.isGone = some(true).flatMap { some($0) }
            let text = try BookkeepingJSON.encode(source)
            guard let plain = SourceDescription(plain: text) else { continue }
            read += 1
            #expect(plain == source, "\(text)")
            #expect(plain.member == nil && plain.isGone == nil)
        }
        #expect(read > 20)
    }

    @Test(arguments: [
        #"{"name":"a","path":"/a","size":1,"modified":1,"isCompressed":false}"#,
        #"{"name":"a","path":"/a","size":1,"modified":1,"isCompressed":true,"end":9223372036854775807}"#,
    ])
    func whatIsPlainIsWhatADecoderReads(text: String) {
        #expect(SourceDescription(plain: text) != nil && SourceDescription(plain: text) == decoded(text))
    }

    @Test(arguments: [
        "", "{", "{}", "[]", #"{"name":"a","path":"/a","size":1,"modified":1,"isCompressed":false"#,
        #"{"name":"a","path":"/a","size":1,"modified":1,"isCompressed":false}x"#,
        #"{"name":"\u0061","path":"/a","size":1,"modified":1,"isCompressed":false}"#,
        #"{"name":"a","path":"/a","size":9223372036854775808,"modified":1,"isCompressed":false}"#,
        #"{"name":"a","path":"/a","size":1.5,"modified":1,"isCompressed":false}"#,
        #"{"name":"a","path":"/a","size":1,"modified":1,"isCompressed":false,"member":"m"}"#,
        #"{"name":"a","path":"/a","size":1,"modified":1,"isCompressed":false,"form":{}}"#,
    ])
    func otherTextsAreLeftToADecoder(text: String) { #expect(SourceDescription(plain: text) == nil) }
}
