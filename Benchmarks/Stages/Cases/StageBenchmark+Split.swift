import Foundation

/// Cutting a source into chunk files.
extension StageBenchmark {
    static var splitting: [StageBenchmark] {
        [
            split("Split_array", .array, floor: "Split_floor_yajl"),
            split("Split_ndjson", .ndjson, floor: "Split_floor_copy"),
            StageBenchmark("Split_floor_yajl") { place in
                let source = try place.source(.array)
                // The address is an object too.
                return { measure in
                    var count = YajlCount()
                    try measure { count = try YajlCount.of(source) }
                    try expect("objects", count.objects, is: place.records * 2)
                }
            },
            StageBenchmark("Split_floor_copy") { place in
                let source = try place.source(.ndjson)
                return { measure in
                    let copy = place.fresh("copy")
                    var copied = 0
                    try measure { copied = try Self.copy(source, to: copy) }
                    try expect("bytes", copied, is: place.people.text(.ndjson).count)
                    place.remove(copy)
                }
            },
        ]
    }

    private static func split(_ name: String, _ format: People.Format, floor: String) -> StageBenchmark {
        StageBenchmark(name, floor: floor) { place in
            _ = try place.source(format)
            return { measure in
                let directory = place.fresh("split")
                var records: Int64 = 0
                try measure { records = try place.split(format, to: directory).records }
                try expect("records", records, is: Int64(place.records))
                let names = try FileManager.default.contentsOfDirectory(atPath: directory)
                let bytes = try names.filter { $0.hasPrefix("chunk-") }.reduce(0) {
                    $0 + (try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\($1)"))).count
                }
                try expect("bytes", bytes, is: place.people.text(.ndjson).count)
                place.remove(directory)
            }
        }
    }

    /// Reads a file and writes it again, in the importer's blocks.
    private static func copy(_ source: String, to copy: String) throws -> Int {
        let input = open(source, O_RDONLY)
        let output = open(copy, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        defer {
            close(input)
            close(output)
        }
        var block = [UInt8](repeating: 0, count: 256 << 10)
        return try block.withUnsafeMutableBytes { block in
            var copied = 0
            while true {
                let count = read(input, block.baseAddress, block.count)
                if count == 0 { return copied }
                guard count > 0, write(output, block.baseAddress, count) == count else {
                    throw WrongResult(description: "\(source) cannot be copied")
                }
                copied += count
            }
        }
    }
}
