import Foundation
import TestSupport
import Testing

@testable import ImportModel

struct TransformerTests {
    /// What a chain makes of a text.
    private enum Result: Equatable {
        case unchanged
        case changed(String)
        case null
    }

    private func apply(_ chain: TransformerChain, _ text: String) -> Result {
        withView(text) { view in
            var scratch = Array("before".utf8)
            switch chain.apply(view, to: &scratch) {
            case .unchanged:
                #expect(scratch == Array("before".utf8))
                return .unchanged
            case .null: return .null
            case .changed(let range):
                #expect(
                    scratch.starts(with: "before".utf8) && range.lowerBound == 6 && range.upperBound == scratch.count
                )
                return .changed(String(decoding: scratch[range], as: UTF8.self))
            }
        }
    }

    private static let hasPython = FileManager.default.isExecutableFile(atPath: Project.python)

    @Test(.enabled(if: hasPython), arguments: ["entities", "html", "text"])
    func makesWhatPythonMakes(_ list: String) throws {
        let output = try Python.run("transforms.py", [list])
        #expect(output.ending == .exit(0), "\(output.errorText)")
        var chains: [String: TransformerChain] = [:]
        for name in TransformerRegistry.standard.names { chains[name] = try TransformerChain([name]) }
        var differences: [String] = []
        var count = 0
        for line in output.outputText.utf8.split(separator: UInt8(ascii: "\n")) {
            guard case .array(let fields) = try JSONValue(parsing: Array(line)), fields.count == 3,
                case .string(let name) = fields[0], case .string(let text) = fields[1]
            else {
                Issue.record("\(line)")
                return
            }
            var expected = Result.null
            if case .string(let result) = fields[2] {
                // As bytes: Swift takes canonically equal strings for equal.
                expected = result.utf8.elementsEqual(text.utf8) ? .unchanged : .changed(result)
            }
            let result = apply(try #require(chains[name]), text)
            if !isSame(result, expected) {
                differences.append("\(name) \(text.debugDescription): \(result), not \(expected)")
            }
            count += 1
        }
        #expect(differences.isEmpty, "\(differences.count): \(differences.prefix(20).joined(separator: "\n"))")
        #expect(count > 10_000)
    }

    private func isSame(_ first: Result, _ second: Result) -> Bool {
        if case .changed(let first) = first, case .changed(let second) = second {
            return first.utf8.elementsEqual(second.utf8)
        }
        return first == second
    }

    @Test func chainsOneAfterTheOther() throws {
        let rows: [([String], String, Result)] = [
            ([], " a ", .unchanged), (["trim", "emptyToNull"], " \u{3000}\n", .null),
            (["emptyToNull", "trim"], " ", .changed("")),
            (["trim", "htmlUnescape", "lowercase"], " &Eacute;T&Eacute; ", .changed("\u{E9}t\u{E9}")),
            (["htmlUnescape", "trim"], "&nbsp;a&nbsp;", .changed("a")),
            (["trim", "collapseWhitespace"], " a  b ", .changed("a b")),
            (["htmlEscape", "htmlUnescape"], "a & b", .unchanged), (["uppercase", "lowercase"], "abc", .unchanged),
            (["uppercase", "lowercase", "trim"], " abc", .changed("abc")),
            (["htmlUnescape", "normalizeNFC"], "e&#x301;", .changed("é")),
            (["trim", "lowercase", "uppercase"], " a ", .changed("A")),
        ]
        for (names, text, expected) in rows {
            #expect(isSame(apply(try TransformerChain(names), text), expected), "\(names) \(text)")
        }
    }

    @Test func leavesWhatNeedsNoChange() throws {
        let names = ["trim", "emptyToNull", "htmlUnescape", "collapseWhitespace", "normalizeNFC"]
        for text in ["a", "two words", "日本語", "Ångström", "a; b #1", "\u{1F600}"] {
            #expect(apply(try TransformerChain(names), text) == .unchanged, "\(text)")
        }
        #expect(apply(try TransformerChain(["lowercase"]), "日本 é") == .unchanged)
        #expect(apply(try TransformerChain(["uppercase"]), "日本 É 1") == .unchanged)
    }

    @Test func takesTheTransformersOfItsUsers() throws {
        var registry = TransformerRegistry()
        registry.register("reverse") { String($0.reversed()) }
        registry.register("noneToNull") { $0 == "none" ? nil : $0 }
        registry.register("trim") { _ in "mine" }
        #expect(apply(try TransformerChain(["reverse"], registry: registry), "abc") == .changed("cba"))
        #expect(apply(try TransformerChain(["reverse", "reverse"], registry: registry), "abc") == .unchanged)
        #expect(apply(try TransformerChain(["reverse", "noneToNull"], registry: registry), "enon") == .null)
        #expect(apply(try TransformerChain(["noneToNull"], registry: registry), "some") == .unchanged)
        #expect(apply(try TransformerChain(["trim"], registry: registry), "abc") == .changed("mine"))
        #expect(apply(try TransformerChain(["trim"]), "abc") == .unchanged)
        #expect(Set(registry.names).subtracting(TransformerRegistry.standard.names) == ["noneToNull", "reverse"])
    }

    @Test func namesATransformerThatThereIsNot() throws {
        let error = #expect(throws: UnknownTransformer.self) { try TransformerChain(["trim", "Trim"]) }
        #expect(error?.name == "Trim" && error?.index == 1)
        #expect(error?.description.contains("trim") == true)
    }

    @Test(.enabled(if: hasPython))
    func keepsTheNamesOfHTMLAsTheScriptWritesThem() throws {
        let script = Project.root.appending(path: "scripts/generate-html-entities").path
        let output = try run([Project.python, script, "--print"])
        let file = Project.root.appending(path: "Sources/ImportModel/Transforming/HTMLEntities.swift")
        #expect(output.ending == .exit(0))
        #expect(try output.output == Data(contentsOf: file))
    }
}
