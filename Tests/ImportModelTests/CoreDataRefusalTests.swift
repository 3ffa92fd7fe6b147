import Testing

@testable import ImportModel

/// Files that are no Core Data models, or are made to do harm: each is refused with a sentence and its place.
struct CoreDataRefusalTests {
    private func refusal(_ bytes: [UInt8]) -> [ModelError.Mistake] {
        do throws(ModelError) {
            _ = try CoreDataModel(parsing: bytes)
            return []
        } catch {
            return error.mistakes
        }
    }

    private func refusal(_ text: String) -> [ModelError.Mistake] { refusal(Array(text.utf8)) }

    private static let sound = "<entity name=\"A\"><attribute name=\"x\" attributeType=\"String\"/></entity>"

    @Test(arguments: [
        ("<!DOCTYPE m [<!ENTITY a \"aaa\"><!ENTITY b \"&a;&a;\">]><model/>", "line 1", "declares an entity"),
        ("\n<!DOCTYPE m [<!ENTITY % p SYSTEM \"file:///etc/passwd\">]><model/>", "line 2", "declares an entity"),
        ("<model>\n<entity name=\"&x;\"/></model>", "line 2", "refers to an entity"),
        ("<!DOCTYPE m [<model/>", "line 1", "no end"), ("<!-- ", "line 1", "ends within"),
        ("<?xml version=\"1.0\" encoding=\"UTF-16\"?><model/>", "line 1", "encoding"),
        ("<model>\n<entity name=\"A\">", "line 2", "not XML"), ("<model/><model/>", "line 1", "not XML"),
        ("<model><a b=\"1\" b=\"2\"/></model>", "line 1", "twice"), ("", "the file", "no element"),
        ("<html/>", "line 1", "<html>"), ("<model/>", "line 1", "no entity"),
    ])
    func refusesWhatIsNoModel(text: String, place: String, words: String) {
        let mistakes = refusal(text)
        #expect(mistakes.map(\.path) == [place] && mistakes[0].message.contains(words), "\(mistakes)")
    }

    @Test func passesOverADoctype() throws {
        let types = [
            "<!DOCTYPE model>", "<!DOCTYPE model SYSTEM \"file:///etc/passwd\">", "<!DOCTYPE m PUBLIC 'a>' \"x'>\">",
            "<!DOCTYPE model [<!ELEMENT a ANY> <!-- <!ENTITY ]> -->\n]>", "<?pi <!ENTITY a 'b'> ?><!-- <!ENTITY -->",
        ]
        for type in types {
            #expect(refusal("\(type)<model>\(Self.sound)</model>").isEmpty, "\(type)")
        }
        // Lines keep their numbers.
        let mistakes = refusal("<!DOCTYPE model [\n\n]>\n<model>\(Self.sound)<entity/></model>")
        #expect(mistakes.map(\.path) == ["line 4"])
    }

    @Test func boundsSizeAndDepth() {
        let large = [
            String(repeating: "<a>", count: 100_000), "<model \(String(repeating: "x", count: 300_000))/>",
            "<model>" + String(repeating: "<b/>", count: 250_000) + "</model>",
            "<model " + (0..<2_000).map { "a\($0)=\"\"" }.joined(separator: " ") + "/>",
            "<model>" + String(repeating: "<entity name=\"A\"/>", count: 1_001) + "</model>",
            "<model><entity name=\"A\">" + String(repeating: "<attribute/>", count: 2_101) + "</entity></model>",
            String(repeating: " ", count: (16 << 20) + 1),
        ]
        for text in large { #expect(refusal(text).count == 1, "\(text.prefix(40))") }
        var composites =
            "<entity name=\"A\"><attribute name=\"c\" attributeType=\"Composite\" composite=\"C0\"/></entity>"
        for number in 0..<30 {
            let part = "<attribute name=\"a\" attributeType=\"Composite\" composite=\"C\(number + 1)\"/>"
            composites += "<composite name=\"C\(number)\">\(part)\(part.replacing("\"a\"", with: "\"b\""))</composite>"
        }
        #expect(refusal("<model>\(composites)</model>").count == 1)
    }

    @Test func refusesBytesThatAreNotText() {
        let text = "<model>\n<entity name=\"?\"/></model>"
        #expect(refusal(text.utf8.map { $0 == UInt8(ascii: "?") ? 0xFF : $0 })[0].path == "line 2")
        #expect(refusal(text.utf8.map { $0 == UInt8(ascii: "?") ? 0 : $0 })[0].path == "line 2")
    }

    @Test(arguments: [
        ("<entity/>", ["line 2"]), ("<entity name=\"A\"><attribute name=\"x\"/></entity>", ["A (line 2)"]),
        (sound.replacing("\"A\"", with: "\"sqlite_A\""), ["sqlite_A (line 2)"]), (sound, []),
        (sound + sound, ["A (line 2)"]),
        ("<entity name=\"A\"><attribute name=\"x\"/><relationship name=\"x\"/></entity>", ["A.x (line 2)"]),
        ("<entity name=\"A\"><attribute/></entity>", ["A (line 2)"]),
        ("<entity name=\"A\" parentEntity=\"B\"/>", ["A (line 2)"]),
        (
            "<entity name=\"A\" parentEntity=\"B\"/><entity name=\"B\" parentEntity=\"A\"/>",
            ["A (line 2)", "B (line 2)"]
        ),
        ("<entity name=\"A\"><relationship name=\"r\"/></entity>", ["A.r (line 2)"]),
        ("<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"B\"/></entity>", ["A.r (line 2)"]),
        (
            "<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"A\" inverseName=\"s\"/></entity>",
            ["A.r (line 2)"]
        ),
        (
            """
            <entity name="A"><relationship name="r" destinationEntity="A" inverseName="s"/>\
            <relationship name="s" destinationEntity="A"/></entity>
            """, ["A.r (line 2)"]
        ),
        (
            "<entity name=\"A\"><attribute name=\"c\" attributeType=\"Composite\" composite=\"C\"/></entity>",
            ["A.c (line 2)"]
        ),
        (
            """
            <entity name="A"><attribute name="c" attributeType="Composite" composite="C"/></entity>\
            <composite name="C"><attribute name="d" attributeType="Composite" composite="C"/></composite>
            """, ["A.c.d (line 2)"]
        ),
        (sound + sound.replacing("\"A\"", with: "\"B\" parentEntity=\"A\""), ["B.x (line 2)"]),
    ])
    func saysWhichEntityOrPropertyIsWrong(entities: String, places: [String]) {
        #expect(refusal("<model>\n\(entities)</model>").map(\.path) == places)
    }

    /// Whatever is changed in a model, it is a model or refused, and what is read is sound.
    @Test func survivesDamage() throws {
        let text = """
            <model><entity name="A" parentEntity=""><attribute name="x" optional="YES" attributeType="Integer 16"
            defaultValueString="1" minValueString="0"/><attribute name="c" attributeType="Composite" composite="C"/>
            <relationship name="r" toMany="YES" ordered="YES" destinationEntity="B" inverseName="s"/><userInfo>
            <entry key="id" value="x"/></userInfo></entity><entity name="B"><relationship name="s" destinationEntity="A"
            inverseName="r" maxCount="1"/></entity><entity name="D" parentEntity="B"><attribute name="x" attributeType="Date"/>
            </entity><composite name="C"><attribute name="y" attributeType="UUID"/></composite></model>
            """
        #expect(refusal(text).isEmpty)
        var state: UInt64 = 7
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let pieces = [
            "\"", "<", ">", "/", "A", "YES", "B", "=", "&", "-1", "x", "\u{0}", "Composite", "]]>", "<!--", "é",
        ]
        for _ in 0..<2_000 {
            var bytes = Array(text.utf8)
            for _ in 0...random(3) {
                let place = random(bytes.count)
                if random(2) == 0 { bytes.removeSubrange(place..<min(place + random(40), bytes.count)) }
                bytes.insert(contentsOf: pieces[random(pieces.count)].utf8, at: min(place, bytes.count))
            }
            if let file = try? CoreDataModel(parsing: bytes) { #expect(throws: Never.self) { try file.model.check() } }
        }
    }
}
