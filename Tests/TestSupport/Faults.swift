import Foundation

/// What strikes at a program's system calls: `Tests/Faults`, preloaded.
package enum Faults {
    private static let built = Result {
        let directory = try TemporaryDirectory()
        let shim = directory.path("faults.so")
        let sources = ["faults.c", "power.c"].map { Project.root.appending(path: "Tests/Faults/\($0)").path }
        let compiled = try run(["cc", "-shared", "-fPIC", "-o", shim] + sources + ["-ldl", "-pthread"])
        guard compiled.ending == .exit(0) else { throw NeverCame("\(shim): \(compiled.errorText)") }
        return (directory: directory, shim: shim)
    }

    /// The path of the library to preload, built once.
    package static func shim() throws -> String { try built.get().shim }
}
