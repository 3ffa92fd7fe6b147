// Runs the samples of a page of the documentation: `samples PAGE`. scripts/samples.py writes and checks them.

import Foundation

guard let sample = samples[CommandLine.arguments.last ?? ""] else { exit(64) }
do {
    try await sample()
} catch {
    print("Error: \(error)")
    exit(1)
}
