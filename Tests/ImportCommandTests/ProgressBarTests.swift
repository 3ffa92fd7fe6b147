import Testing

@testable import ImportCommand
@testable import Importer

struct ProgressBarTests {
    private let bar = ProgressBar(style: .init(isUnicode: true, isColored: false))

    private static let frames: [ProgressFrame] = [
        Samples.frame(),
        Samples.frame { $0.snapshot.rejects = 123_456 },
        Samples.frame { $0.snapshot.totalBytes = nil },
        Samples.frame { $0.snapshot.totalBytes = 0 },
        Samples.frame { $0.work = nil },
        Samples.frame { $0.work = .infer },
        Samples.frame {
            $0.snapshot.phase = .finished
            $0.snapshot.importedBytes = 470_000_000
        },
        Samples.frame {
            $0.snapshot.totalBytes = .max
            $0.snapshot.splitBytes = .max
            $0.snapshot.importedBytes = .max
            $0.snapshot.importedRecords = .max
            $0.snapshot.splitRecords = .max
            $0.snapshot.rejects = .max
            $0.recordsPerSecond = 9e17
            $0.bytesPerSecond = 1e300
            $0.secondsLeft = .infinity
        },
        ProgressFrame(),
    ]

    @Test func neverReachesTheLastColumn() {
        for frame in Self.frames {
            for width in 0...200 {
                for line in bar.lines(frame, width: width) {
                    #expect(line.count <= max(width - 1, 0), "width \(width): \(line)")
                }
            }
        }
    }

    @Test func tellsMoreTheWiderItIs() {
        let frame = Samples.frame()
        #expect(bar.lines(frame, width: 20) == ["split  100%", "import  45%"])
        #expect(bar.lines(frame, width: 40)[1] == "import ━━━━━━╸────────   45%  0:02 left")
        let wide = bar.lines(frame, width: 200)[1]
        for part in ["45%", "212 MB of 470 MB", "675,000 records", "410,000/s", "128 MB/s", "0:02 left", "0 rejects"] {
            #expect(wide.contains(part))
        }
    }

    @Test func drawsBarsOfEqualLength() {
        for width in 20...200 {
            let lengths = bar.lines(Samples.frame(), width: width).map { $0.filter { "━╸─".contains($0) }.count }
            #expect(lengths[0] == lengths[1])
        }
    }

    @Test func saysAHundredPercentOnlyWhenAllIsDone() {
        let almost = Samples.frame { $0.snapshot.importedBytes = 469_999_999 }
        #expect(bar.lines(almost, width: 80)[1].contains(" 99%"))
        let all = Samples.frame { $0.snapshot.importedBytes = 470_000_000 }
        #expect(bar.lines(all, width: 80)[1].contains("100%"))
    }

    @Test func timeThatIsUpIsNotTimeThatIsLeft() {
        let unknown = Samples.frame {
            $0.snapshot.totalBytes = nil
            $0.secondsLeft = nil
            $0.elapsed = 2.9
        }
        #expect(bar.lines(unknown, width: 120)[1].contains("0:02 elapsed"))
        let done = Samples.frame {
            $0.snapshot.phase = .finished
            $0.elapsed = 0.05
        }
        #expect(bar.lines(done, width: 120)[1].contains("in 0.05 s"))
        #expect(ProgressLine.text(done).contains("done in 0.05 s"))
    }

    @Test func keepsRejectsInSightWhereRoomIsShort() {
        let frame = Samples.frame { $0.snapshot.rejects = 3 }
        #expect(bar.lines(frame, width: 40)[1].contains("3 rejects"))
        #expect(!bar.lines(Samples.frame(), width: 60)[1].contains("reject"))
    }

    @Test func drawsInASCIIWhereTheTerminalIsNotUTF8() {
        let lines = ProgressBar(style: .init(isUnicode: false, isColored: false)).lines(Samples.frame(), width: 100)
        #expect(lines.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } })
    }

    @Test func coloursChangeNothingButColours() {
        for width in [20, 40, 80, 120, 200] {
            let frame = Samples.frame { $0.snapshot.rejects = 3 }
            let colored = ProgressBar(style: .init(isUnicode: true, isColored: true)).lines(frame, width: width)
            let plain = colored.map { $0.replacing(/\u{1B}\[[0-9]+m/, with: "") }
            #expect(plain.map(\.count) == bar.lines(frame, width: width).map(\.count))
        }
    }
}
